#include <doctest/doctest.h>

#include "tests/fuzz/files_samples.hpp"

std::size_t fuzz_files(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("7,000 seeded files, mutated, are survived") {
  const auto all = files_samples::all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(fuzz_files(reinterpret_cast<const std::uint8_t*>(all[i].data()),
                     all[i].size())
          == 1);
  }
  CHECK(feed_mutants(all, 7000, 84, fuzz_files) > 1500);
}
