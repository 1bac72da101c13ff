#include "models/blas_check.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

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
  CHECK(slow_blas_remedy()
        == blas_remedy(path, std::getenv("OPENBLAS_NUM_THREADS")
                                 ? std::getenv("OPENBLAS_NUM_THREADS")
                                 : ""));
}
