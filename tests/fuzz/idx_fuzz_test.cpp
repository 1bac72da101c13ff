#include <doctest/doctest.h>

#include "tests/fuzz/idx_samples.hpp"

std::size_t fuzz_idx(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("5,000 seeded files of images and texts, mutated, are survived") {
  for (const auto& x : idx_samples::all())
    CHECK(fuzz_idx(reinterpret_cast<const std::uint8_t*>(x.data()), x.size())
          == 1);
  CHECK(feed_mutants(idx_samples::all(), 5000, 82, fuzz_idx) > 1000);
}
