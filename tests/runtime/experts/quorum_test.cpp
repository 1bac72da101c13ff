#include "runtime/experts/quorum.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using verdict = quorum::verdict;
const time_point start{100s};

quorum make(std::uint32_t k_min, std::size_t samples,
            std::vector<std::vector<std::uint32_t>> calls) {
  return {{k_min, 1s, 30s}, samples, std::move(calls), start};
}

} // namespace

TEST_CASE("waiting ends at once when all have answered or failed") {
  auto q = make(1, 2, {{0, 1}, {0}, {1}});
  CHECK(!q.done(start));
  CHECK(q.answered(0, start + 1ms) == verdict::taken);
  CHECK(q.failed(1) == verdict::taken);
  CHECK(!q.done(start + 2ms));
  CHECK(q.answered(2, start + 3ms) == verdict::taken);
  CHECK(q.done(start + 3ms));
  CHECK(q.answers(0) == 1);
  CHECK(q.answers(1) == 2);
}

TEST_CASE("after k_min answers the others have the time-out, counted from the "
          "sample that had enough last") {
  auto q = make(2, 2, {{0, 1}, {0}, {1}, {0, 1}});
  CHECK(q.deadline() == start + 30s);
  q.answered(0, start + 1s);
  q.answered(1, start + 2s);
  CHECK(q.enough(0));
  CHECK(q.deadline() == start + 30s); // Sample 1 has one only.
  q.answered(2, start + 5s);
  CHECK(q.deadline() == start + 6s);
  CHECK(!q.done(start + 5999ms));
  CHECK(q.done(start + 6s));
}

TEST_CASE("a sample that can have k_min no more is not waited for") {
  auto q = make(2, 2, {{0}, {0}, {1}, {1}});
  q.failed(0);
  q.answered(2, start + 1s);
  q.answered(3, start + 1s);
  CHECK(q.done(start + 1s)); // Call 1 is still open.
  CHECK(!q.enough(0));
  CHECK(q.enough(1));
}

TEST_CASE("nobody is waited for longer than the patience") {
  auto q = make(1, 1, {{0}, {0}});
  CHECK(q.done(start + 30s));
  CHECK(!q.done(start + 29s));
  q.answered(0, start + 29900ms);
  CHECK(q.deadline() == start + 30s);
}

TEST_CASE("a call ends once, and only calls that there are count") {
  auto q = make(1, 1, {{0}});
  CHECK(q.answered(1, start) == verdict::unknown);
  CHECK(q.failed(1) == verdict::unknown);
  CHECK(q.answered(0, start) == verdict::taken);
  CHECK(q.answered(0, start) == verdict::unknown);
  CHECK(q.failed(0) == verdict::unknown);
  CHECK(q.answers(0) == 1);
}

TEST_CASE("without calls there is nothing to wait for") {
  CHECK(make(1, 3, {}).done(start));
  CHECK_THROWS_AS(make(0, 1, {{0}}), std::invalid_argument);
  CHECK_THROWS_AS(make(1, 1, {{1}}), std::invalid_argument);
}
