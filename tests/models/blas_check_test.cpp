#include "models/blas_check.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "models/blas_kernels.hpp"
#include "models/catalogue.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;

namespace {

bool mentions(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a slow BLAS comes with its mend, a good one with silence") {
  CHECK(mentions(
      blas_remedy("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0", ""),
      "apt-get install libopenblas0-openmp"));
  const std::string threaded
      = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3";
  CHECK(mentions(blas_remedy(threaded, ""), "OPENBLAS_NUM_THREADS=1"));
  CHECK(blas_remedy(threaded, "1").empty());
  CHECK(
      blas_remedy("/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3", "")
          .empty());
  CHECK(blas_remedy("/usr/lib/x86_64-linux-gnu/libmkl_rt.so", "").empty());
  CHECK(blas_remedy("", "").empty());
}

TEST_CASE("the BLAS that this process uses is found") {
  // True of every LibTorch that does not contain a BLAS of its own.
  const auto path = loaded_blas();
  if (path.empty())
    return support::skip("this LibTorch loads no BLAS library");
  CHECK(std::filesystem::exists(path));
  const char* threads = std::getenv("OPENBLAS_NUM_THREADS");
  CHECK(
      mentions(slow_blas_remedy(), blas_remedy(path, threads ? threads : "")));
  CHECK_FALSE(blas_in_use().empty());
  CHECK(mentions(path, "openblas") == !blas_kernels().empty());
}

TEST_CASE("kernels of before AVX2 are replaced where the processor has it") {
  const vector_units old{}, haswell{true, false, false},
      skylake{true, true, false}, sapphire{true, true, true};
  CHECK(better_kernels("Prescott", old) == "");
  CHECK(better_kernels("Prescott", haswell) == "Haswell");
  CHECK(better_kernels("Prescott", skylake) == "SkylakeX");
  CHECK(better_kernels("Prescott", sapphire) == "Cooperlake");
  CHECK(better_kernels("Barcelona", haswell) == "Haswell");
  for (auto good :
       {"Haswell", "Zen", "SkylakeX", "Cooperlake", "Excavator", ""})
    CHECK(better_kernels(good, sapphire) == "");
}

TEST_CASE("kernels that do not suit the processor come with their mend") {
  CHECK(kernels_remedy("Haswell", "").empty());
  const auto sentence = kernels_remedy("Prescott", "Cooperlake");
  CHECK(mentions(sentence, "its Prescott kernels"));
  CHECK(mentions(sentence, "OPENBLAS_CORETYPE=Cooperlake"));
}
