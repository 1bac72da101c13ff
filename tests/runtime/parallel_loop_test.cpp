#include "runtime/parallel_loop.hpp"

#include <atomic>

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("every value is in one piece, on however many threads") {
  for (unsigned threads : {1u, 3u, 8u})
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, piece_values,
                              piece_values + 1, 40 * piece_values - 1}) {
      std::vector<int> seen(count, 0);
      for_each_piece(count, threads, [&](std::size_t begin, std::size_t size) {
        CHECK(size > 0);
        CHECK(size <= piece_values);
        for (std::size_t i = begin; i < begin + size; ++i)
          ++seen.at(i);
      });
      CHECK(std::count(seen.begin(), seen.end(), 1)
            == static_cast<std::ptrdiff_t>(count));
    }
}

TEST_CASE("indices are shared out in order") {
  std::vector<std::thread::id> by(10);
  for_each_index(10, 4,
                 [&](std::size_t i) { by[i] = std::this_thread::get_id(); });
  CHECK((by[0] == std::this_thread::get_id()));
  int changes = 0;
  for (std::size_t i = 1; i < by.size(); ++i)
    changes += by[i] != by[i - 1];
  CHECK(changes == 3);
}

TEST_CASE("few values start no thread") {
  CHECK(threads_for(1000, 8) == 1);
  CHECK(threads_for(100'000'000, 8) == 8);
  CHECK(threads_for(100'000'000, 1) == 1);
}

TEST_CASE("no stage begins before the one before has ended") {
  for (unsigned threads : {1u, 2u, 5u}) {
    const std::vector<std::size_t> counts{3, 0, 20, 1, 7};
    std::atomic<std::size_t> ended{0};
    std::atomic<int> early{0};
    std::vector<std::vector<std::atomic<int>>> seen;
    for (auto count : counts)
      seen.emplace_back(count);
    for_each_stage(
        counts.size(), threads,
        [&](std::size_t stage) { return counts[stage]; },
        [&](std::size_t stage, std::size_t i) {
          std::size_t before = 0;
          for (std::size_t j = 0; j < stage; ++j)
            before += counts[j];
          early += ended < before;
          ++seen[stage][i];
          ++ended;
        });
    CHECK(early == 0);
    for (const auto& stage : seen)
      for (const auto& times : stage)
        CHECK(times == 1);
  }
}
