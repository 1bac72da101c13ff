#include "runtime/dht/rpc_table.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

using table = rpc_table<std::string>;

namespace {

peer_id peer(std::uint8_t n) {
  peer_id id;
  id.bytes[0] = n;
  return id;
}

} // namespace

TEST_CASE("an answer takes its request once, with what it was about") {
  table calls;
  time_point start{5s};
  auto token = calls.issue(peer(1), "ping", start, 2s);
  REQUIRE(token);
  auto first = calls.answer(*token, peer(1));
  CHECK(first.what == table::verdict::matched);
  REQUIRE(first.request);
  CHECK(first.request->what == "ping");
  CHECK(first.request->sent == start);
  CHECK(first.request->deadline == start + 2s);
  CHECK(calls.answer(*token, peer(1)).what == table::verdict::unknown);
  CHECK(calls.size() == 0);
  CHECK(calls.expired(start + 1h).empty());
}

TEST_CASE("another peer cannot answer for the one that was asked") {
  table calls;
  auto token = calls.issue(peer(1), "find", time_point{}, 1s);
  auto forged = calls.answer(*token, peer(2));
  CHECK(forged.what == table::verdict::stranger);
  CHECK_FALSE(forged.request);
  CHECK(calls.answer(*token, peer(1)).what == table::verdict::matched);
}

TEST_CASE("requests expire at their deadline, the earliest first") {
  table calls;
  time_point start{};
  calls.issue(peer(1), "slow", start, 3s);
  calls.issue(peer(1), "fast", start, 1s);
  calls.issue(peer(2), "medium", start, 2s);
  CHECK(calls.expired(start + 1s - 1ns).empty());
  auto gone = calls.expired(start + 2s);
  REQUIRE(gone.size() == 2);
  CHECK(gone[0].what == "fast");
  CHECK(gone[1].what == "medium");
  CHECK(calls.expired(start + 3s).size() == 1);
  CHECK(calls.answer(gone[0].token, peer(1)).what == table::verdict::unknown);
}

TEST_CASE("cancelling a peer takes its requests and leaves the others") {
  table calls;
  calls.issue(peer(1), "a", time_point{}, 1s);
  calls.issue(peer(2), "b", time_point{}, 1s);
  calls.issue(peer(1), "c", time_point{}, 1s);
  CHECK(calls.cancel(peer(1)).size() == 2);
  CHECK(calls.cancel(peer(1)).empty());
  auto left = calls.expired(time_point{1s});
  REQUIRE(left.size() == 1);
  CHECK(left[0].what == "b");
}

TEST_CASE("tokens differ, are never zero and survive the counter's wrap") {
  rpc_table<int> calls{~std::uint64_t{0} - 3, 10};
  std::set<std::uint64_t> tokens;
  for (int i = 0; i < 10; ++i) {
    auto token = calls.issue(peer(1), i, time_point{}, 1s);
    REQUIRE(token);
    CHECK(*token != 0);
    tokens.insert(*token);
  }
  CHECK(tokens.size() == 10);
  CHECK_FALSE(calls.issue(peer(1), 10, time_point{}, 1s));
  calls.cancel(peer(1));
  CHECK(calls.issue(peer(1), 11, time_point{}, 1s));
}

TEST_CASE("every request ends exactly once, however it ends") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    rpc_table<int> calls{random.next(), 64};
    std::multiset<int> ended;
    int issued = 0;
    time_point now{};
    std::vector<std::uint64_t> tokens;
    for (int i = 0; i < 1000; ++i) {
      now += std::chrono::milliseconds(random.below(50));
      auto who = peer(static_cast<std::uint8_t>(random.below(4)));
      switch (random.below(4)) {
        case 0:
        case 1:
          if (auto token
              = calls.issue(who, issued, now,
                            std::chrono::milliseconds(random.below(900))))
            tokens.push_back(*token), ++issued;
          break;
        case 2:
          if (!tokens.empty())
            if (auto x = calls.answer(tokens[random.below(tokens.size())], who);
                x.request)
              ended.insert(x.request->what);
          break;
        default:
          for (auto& x : calls.expired(now))
            ended.insert(x.what);
          if (random.below(10) == 0)
            for (auto& x : calls.cancel(who))
              ended.insert(x.what);
      }
    }
    for (auto& x : calls.expired(now + 1h))
      ended.insert(x.what);
    CHECK(calls.size() == 0);
    CHECK(ended.size() == static_cast<std::size_t>(issued));
    CHECK(std::set<int>(ended.begin(), ended.end()).size() == ended.size());
  }
}

TEST_CASE("what was asked before a time is listed, and stays pending") {
  rpc_table<int> table;
  const auto at = [](int s) { return time_point{std::chrono::seconds{s}}; };
  const peer_id who{};
  table.issue(who, 1, at(1), std::chrono::seconds{9});
  table.issue(who, 2, at(2), std::chrono::seconds{9});
  CHECK(table.sent_before(at(1)).empty());
  const auto one = table.sent_before(at(2));
  REQUIRE(one.size() == 1);
  CHECK(one[0].what == 1);
  CHECK(table.sent_before(at(3)).size() == 2);
  CHECK(table.size() == 2);
}
