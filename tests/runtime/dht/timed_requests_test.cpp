#include "runtime/dht/timed_requests.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/dht/sealed_records.hpp"

using namespace potluck;
using namespace potluck::sealed;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

/// The searches whose requests have failed by then.
std::vector<std::uint64_t> failed_by(timed_requests& all, time_point then) {
  std::vector<std::uint64_t> result;
  all.expire(then, [&](auto& x) { result.push_back(x.what); });
  return result;
}

} // namespace

TEST_CASE("an answer in time says what was asked, and counts once") {
  timed_requests all{100};
  const auto token = all.issue(peer(1), 7, start);
  REQUIRE(token);
  CHECK(all.size() == 1);
  CHECK_FALSE(all.answered(peer(2), *token, start + 1s).wanted);
  const auto answer = all.answered(peer(1), *token, start + 1s);
  CHECK(answer.wanted);
  REQUIRE(answer.in_time);
  CHECK(answer.in_time->what == 7);
  CHECK(answer.in_time->peer == peer(1));
  CHECK(all.size() == 0);
  CHECK_FALSE(all.answered(peer(1), *token, start + 1s).wanted);
}

TEST_CASE("a request fails at its deadline, and its node gets twice as long") {
  timed_requests all{100};
  all.issue(peer(1), 7, start);
  CHECK(failed_by(all, start + limits::routing_patience - 1ns).empty());
  CHECK(failed_by(all, start + limits::routing_patience)
        == std::vector<std::uint64_t>{7});
  CHECK(all.size() == 0);
  all.issue(peer(1), 8, start);
  all.issue(peer(2), 9, start);
  CHECK(failed_by(all, start + 2 * limits::routing_patience - 1ns)
        == std::vector<std::uint64_t>{9});
  CHECK(failed_by(all, start + 2 * limits::routing_patience)
        == std::vector<std::uint64_t>{8});
}

TEST_CASE("what fails may be asked of others meanwhile") {
  timed_requests all{100};
  all.issue(peer(1), 7, start);
  all.issue(peer(2), 8, start);
  const auto now = start + limits::routing_patience;
  std::vector<std::uint64_t> failed;
  all.expire(now, [&](auto& x) {
    failed.push_back(x.what);
    CHECK(all.issue(peer(3), x.what, now));
  });
  CHECK(failed == std::vector<std::uint64_t>{7, 8});
  CHECK(all.size() == 2);
}

TEST_CASE("an answer too late shows that its node lives and needs longer") {
  timed_requests all{100};
  const auto token = all.issue(peer(1), 7, start);
  failed_by(all, start + limits::routing_patience);
  CHECK_FALSE(all.answered(peer(2), *token, start + 5s).wanted);
  const auto late = all.answered(peer(1), *token, start + 5s);
  CHECK(late.wanted);
  CHECK_FALSE(late.in_time);
  CHECK_FALSE(all.answered(peer(1), *token, start + 5s).wanted);
  // Three times the five seconds that it took.
  all.issue(peer(1), 8, start);
  CHECK(failed_by(all, start + 15s - 1ns).empty());
  CHECK(failed_by(all, start + 15s) == std::vector<std::uint64_t>{8});
}

TEST_CASE("of the requests that have failed the oldest are forgotten") {
  timed_requests all{100};
  std::vector<std::uint64_t> tokens;
  for (std::size_t i = 0; i <= limits::overdue_requests; ++i)
    tokens.push_back(all.issue(peer(1), i, start).value());
  const auto now = start + limits::routing_patience;
  CHECK(failed_by(all, now).size() == tokens.size());
  CHECK_FALSE(all.answered(peer(1), tokens[0], now).wanted);
  CHECK(all.answered(peer(1), tokens[1], now).wanted);
  CHECK(all.answered(peer(1), tokens.back(), now).wanted);
}

TEST_CASE("those under way are slow after a second, or end with their node") {
  timed_requests all{100};
  all.issue(peer(1), 7, start);
  all.issue(peer(2), 8, start + 1ms);
  CHECK(all.slow(start + limits::routing_floor).empty());
  const auto slow = all.slow(start + limits::routing_floor + 1ms);
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].what == 7);
  CHECK(all.size() == 2);
  const auto gone = all.cancel(peer(2));
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].what == 8);
  CHECK(all.size() == 1);
}
