#include <doctest/doctest.h>

#include "tests/fuzz/answers_samples.hpp"

std::size_t fuzz_answers(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("10,000 seeded answers of programs that strangers' files took over "
          "are survived") {
  const auto all = answers_samples::all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    CHECK(fuzz_answers(reinterpret_cast<const std::uint8_t*>(all[i].data()),
                       all[i].size())
          == 1);
  }
  CHECK(feed_mutants(all, 10'000, 89, fuzz_answers) > 1000);
}
