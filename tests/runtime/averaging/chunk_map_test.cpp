#include <doctest/doctest.h>

#include <random>
#include <stdexcept>

#include "runtime/averaging/chunk_map.hpp"

using namespace potluck;

TEST_CASE("chunks cover the gradient exactly and have one owner each") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::uint64_t values = 1 + random() % 10000;
    auto chunk_values = static_cast<std::uint32_t>(1 + random() % 300);
    auto chunks = count_chunks(values, chunk_values);
    std::vector<std::uint32_t> counts(1 + random() % 16, 0);
    for (std::uint32_t i = 0; i < chunks; ++i)
      ++counts[random() % counts.size()];
    chunk_map map{values, chunk_values, counts};
    REQUIRE(map.chunk_count() == chunks);
    std::uint64_t next = 0;
    for (std::uint32_t i = 0; i < chunks; ++i) {
      auto range = map.range(i);
      CHECK(range.offset == next);
      CHECK(range.count > 0);
      if (i + 1 < chunks)
        CHECK(range.count == chunk_values);
      next += range.count;
      auto mine = map.chunks_of(map.owner(i));
      CHECK(i >= mine.first);
      CHECK(i - mine.first < mine.count);
    }
    CHECK(next == values);
    for (std::size_t i = 0; i < counts.size(); ++i)
      CHECK(map.chunks_of(i).count == counts[i]);
  }
}

TEST_CASE("a chunk map refuses counts that do not cover the gradient") {
  using counts = std::vector<std::uint32_t>;
  CHECK_THROWS_AS((chunk_map{10, 4, counts{1, 1}}), std::invalid_argument);
  CHECK_THROWS_AS((chunk_map{10, 4, counts{2, 2}}), std::invalid_argument);
  CHECK_THROWS_AS((chunk_map{10, 4, counts{}}), std::invalid_argument);
  CHECK_THROWS_AS(count_chunks(0, 4), std::invalid_argument);
  CHECK_THROWS_AS(count_chunks(4, 0), std::invalid_argument);
  CHECK_THROWS_AS(count_chunks(std::uint64_t{1} << 40, 1),
                  std::invalid_argument);
  chunk_map map{10, 4, counts{1, 2}};
  CHECK_THROWS_AS(map.owner(3), std::out_of_range);
  CHECK_THROWS_AS(map.range(3), std::out_of_range);
  CHECK_THROWS_AS(map.chunks_of(2), std::out_of_range);
}
