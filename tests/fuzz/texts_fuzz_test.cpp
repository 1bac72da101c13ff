#include <doctest/doctest.h>

#include "tests/fuzz/texts_samples.hpp"

std::size_t fuzz_texts(const std::uint8_t* data, std::size_t size);

using namespace potluck;

TEST_CASE("2,000 seeded scenarios, networks, problems and host files, mutated, "
          "are survived") {
  const auto all = texts_samples::all(".");
  for (const auto& x : all)
    CHECK(fuzz_texts(reinterpret_cast<const std::uint8_t*>(x.data()), x.size())
          == 1);
  CHECK(feed_mutants(all, 2000, 83, fuzz_texts) > 300);
}
