#include <doctest/doctest.h>

#include "tests/fuzz/import_samples.hpp"

std::size_t fuzz_import(const std::uint8_t* data, std::size_t size);

using namespace potluck;

namespace {

std::size_t feed(const std::string& x) {
  return fuzz_import(reinterpret_cast<const std::uint8_t*>(x.data()), x.size());
}

} // namespace

TEST_CASE("5,000 seeded files of models, mutated, are survived") {
  const auto all = import_samples::all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(feed(all[i]) == 1);
  }
  CHECK(feed_mutants(all, 5000, 85, fuzz_import) > 1000);
}

TEST_CASE("a header of 1 GB, one that is cut short, a tensor that is missing "
          "and tensors that overlap are refused") {
  using import_samples::made;
  const std::string words
      = R"("words":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]})";
  const std::string bias
      = R"("bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]})";
  const auto scale = [](const char* at) {
    return R"("scale":{"dtype":"F32","shape":[],"data_offsets":[)"
           + std::string{at} + "]}";
  };
  const auto header = [&](const char* at) {
    return "{" + words + "," + bias + "," + scale(at) + "}";
  };
  CHECK(feed(made(header("32,36"), 36)) == 1);
  CHECK(feed(made(header("28,32"), 32)) == 0);
  CHECK(feed(made(header("33,37"), 37)) == 0);
  CHECK(feed(made("{" + words + "," + bias + "}", 32)) == 0);
  const auto whole = import_samples::raw(header("32,36"), 36);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(feed(whole.substr(0, size)) == 0);
  }
  auto huge = whole;
  huge[1 + 3] = '\x40'; // The fourth byte of eight.
  CHECK(feed(huge) == 0);
}
