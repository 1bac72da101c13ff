#include <doctest/doctest.h>

#include "tests/fuzz/grants_samples.hpp"

std::size_t fuzz_grants(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("3,000 seeded amendments, admissions and chains of steps, mutated, "
          "are survived") {
  const auto all = grants_samples::all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(fuzz_grants(reinterpret_cast<const std::uint8_t*>(all[i].data()),
                      all[i].size())
          == 1);
  }
  CHECK(feed_mutants(all, 3000, 86, fuzz_grants) > 800);
}
