#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "runtime/averaging/round/chunk_sum.hpp"
#include "tests/support/float_body.hpp"

using namespace potluck;

namespace {

chunk_part head_of(std::uint64_t samples) {
  chunk_part result;
  result.samples = samples;
  return result;
}

chunk_sum sum_of(std::vector<std::uint64_t> samples, averaging_rule rule = {}) {
  return {2, std::move(samples), rule, std::nullopt, 0};
}

} // namespace

TEST_CASE("a sum says once that all parts are in, and then gives the mean") {
  auto x = sum_of({1, 3, 0});
  CHECK_FALSE(x.offer(0, head_of(1), float_body({1, 7})).worth_telling());
  CHECK(x.counted() == 1);
  auto last = float_body({3, -3});
  auto news = x.offer(1, head_of(3), last);
  CHECK(news.complete);
  CHECK_FALSE(news.refused);
  CHECK_FALSE(x.offer(1, head_of(3), last).worth_telling()); // Sent again.
  CHECK_FALSE(x.leave_out({1}).complete);
  auto result = x.settle();
  CHECK(*result.mean == std::vector<float>{1, 1});
  CHECK(result.left_out.empty());
  CHECK(result.parts[1] == digest_of(last.data, last.size));
  CHECK(result.parts[2].empty());
}

TEST_CASE("a part that is no good leaves its member out, in one call") {
  auto x = sum_of({1, 3});
  x.offer(0, head_of(1), float_body({1, 7}));
  auto news = x.offer(1, head_of(3),
                      float_body({1, std::numeric_limits<float>::infinity()}));
  CHECK(std::string{news.refused} == unfit_values);
  CHECK(news.complete);
  auto result = x.settle();
  CHECK(*result.mean == std::vector<float>{1, 7});
  CHECK(result.left_out == std::vector<std::uint8_t>{1});
  CHECK(result.parts[1].empty());
}

TEST_CASE("a part that comes behind its member's refusal is too late") {
  auto x = sum_of({1, 3, 1});
  CHECK(x.offer(1, head_of(2), float_body({1, 1})).refused);
  CHECK_FALSE(x.offer(1, head_of(3), float_body({3, 3})).worth_telling());
  x.offer(0, head_of(1), float_body({1, 1}));
  CHECK(x.offer(2, head_of(1), float_body({3, 3})).complete);
  CHECK(*x.settle().mean == std::vector<float>{2, 2});
}

TEST_CASE("a sum is complete when those that are missing are done without") {
  auto x = sum_of({1, 3, 5});
  CHECK_FALSE(x.leave_out({1, 2}).complete); // Nothing is in it yet.
  CHECK(x.offer(0, head_of(1), float_body({4, 2})).complete);
  CHECK(x.settle().left_out == std::vector<std::uint8_t>{1, 2});
}

TEST_CASE("under a robust rule a part that is far too long is left out") {
  averaging_rule rule;
  rule.how = aggregator::median;
  auto x = sum_of({1, 1, 1, 1}, rule);
  for (std::size_t i = 0; i < 3; ++i)
    x.offer(i, head_of(1), float_body({1, 1}));
  CHECK(x.offer(3, head_of(1), float_body({1e20f, 1})).complete);
  auto result = x.settle();
  CHECK(result.outliers == std::vector<std::uint8_t>{3});
  CHECK(result.left_out == std::vector<std::uint8_t>{3});
  CHECK(result.parts[3].empty());
  CHECK(*result.mean == std::vector<float>{1, 1});
}

TEST_CASE("whichever threads add, one of them hears that it is complete") {
  constexpr std::size_t members = 4;
  for (int round = 0; round < 200; ++round) {
    auto x = std::make_shared<chunk_sum>(
        std::size_t{64}, std::vector<std::uint64_t>(members, 1),
        averaging_rule{}, std::nullopt, std::size_t{9});
    std::atomic<int> complete{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < members; ++i)
      threads.emplace_back([&complete, x, i] {
        for (int twice = 0; twice < 2; ++twice)
          complete += x->offer(i, head_of(1),
                               float_body(std::vector<float>(64, 2.0f)))
                          .complete;
      });
    for (auto& thread : threads)
      thread.join();
    CHECK(complete == 1);
    CHECK(*x->settle().mean == std::vector<float>(64, 2.0f));
  }
}
