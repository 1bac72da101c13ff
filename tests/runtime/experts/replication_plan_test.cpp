#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/replication_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/experts/guard_choice.hpp"
#include "runtime/experts/tenure.hpp"
#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[31] = number;
  return x;
}

digest kind(std::uint8_t number = 9) {
  digest x;
  x.bytes[0] = number;
  return x;
}

std::vector<expert_host_notice> hosts(std::uint8_t from, std::uint8_t to) {
  std::vector<expert_host_notice> result;
  for (auto i = from; i <= to; ++i)
    result.push_back(
        {{peer(i), {"10.0.0." + std::to_string(i), 1000}}, kind(), 4});
  return result;
}

/// Host 1.
struct owner {
  replication_plan plan{peer(1), kind()};
  time_point now{};

  /// Offers all that is due, and has it kept; who has got it.
  std::set<peer_id> settle() {
    std::set<peer_id> result;
    while (auto x = plan.next(now)) {
      result.insert(x->guard.id);
      plan.held(x->uid, x->guard.id, now);
    }
    return result;
  }
};

} // namespace

TEST_CASE("guards are the same for everybody, of one's kind, with room, and "
          "spread over all") {
  auto all = hosts(1, 10);
  all[2].spare = 0;
  all[3].kind = kind(7);
  std::map<peer_id, int> firsts;
  for (int i = 0; i < 400; ++i) {
    auto uid = "ffn." + std::to_string(i);
    auto order = guards_in_order(uid, peer(1), kind(), all);
    REQUIRE(order.size() == 7);
    auto backwards = all;
    std::reverse(backwards.begin(), backwards.end());
    auto again = guards_in_order(uid, peer(1), kind(), backwards);
    CHECK(again[0].host.id == order[0].host.id);
    CHECK(again[6].host.id == order[6].host.id);
    ++firsts[order[0].host.id];
  }
  CHECK(firsts.size() == 7);
  CHECK(firsts.count(peer(1)) + firsts.count(peer(3)) + firsts.count(peer(4))
        == 0);
  for (auto& [id, n] : firsts)
    CHECK(n > 25); // 57 on average.
}

TEST_CASE("each version goes to two guards, and again to them when it is "
          "newer") {
  owner o;
  o.plan.saved("ffn.1", 1, 64);
  CHECK_FALSE(o.plan.next(o.now)); // Nobody is there.
  o.plan.hosts(hosts(1, 6));
  auto guards = o.settle();
  CHECK(guards.size() == 2);
  CHECK(guards.count(peer(1)) == 0);
  CHECK(o.settle().empty());
  o.plan.saved("ffn.1", 1, 128);
  CHECK(o.settle() == guards);
  // And once in a while, so that they know that it is still theirs to keep.
  o.now += limits::replica_renewal;
  CHECK(o.settle() == guards);
}

TEST_CASE("a guard that refuses, is lost or is silent is replaced") {
  owner o;
  o.plan.hosts(hosts(1, 6));
  o.plan.saved("ffn.1", 1, 64);
  auto first = *o.plan.next(o.now);
  CHECK_FALSE(o.plan.next(o.now)); // One at a time for each expert.
  o.plan.refused("ffn.1", first.guard.id, o.now);
  auto second = *o.plan.next(o.now);
  CHECK(second.guard.id != first.guard.id);
  o.plan.lost(second.guard.id, o.now);
  auto third = *o.plan.next(o.now);
  CHECK(third.guard.id != first.guard.id);
  CHECK(third.guard.id != second.guard.id);
  o.now += limits::replica_answer_patience;
  o.plan.expire(o.now);
  auto guards = o.settle();
  CHECK(guards.size() == 2);
  CHECK(guards.count(third.guard.id) == 0);
  // Whoever is gone from the list of hosts keeps nothing.
  auto left = hosts(1, 6);
  left.erase(
      std::remove_if(left.begin(), left.end(),
                     [&](auto& h) { return h.host.id == *guards.begin(); }),
      left.end());
  o.plan.hosts(left);
  CHECK(o.settle().empty()); // All others have refused a moment ago.
  o.now += limits::replica_refusal_pause;
  o.plan.expire(o.now);
  CHECK(o.settle().size() == 1);
}

TEST_CASE("a guard of the last version is asked to take an expert over before "
          "others") {
  owner o;
  o.plan.hosts(hosts(1, 6));
  o.plan.saved("ffn.1", 1, 64);
  auto guards = o.settle();
  o.plan.hand_over("ffn.1");
  auto x = *o.plan.next(o.now);
  CHECK(x.hand_over);
  CHECK(guards.count(x.guard.id) == 1);
  o.plan.refused("ffn.1", x.guard.id, o.now);
  CHECK(o.plan.unwanted(o.now).empty());
  // Each host may be busy at first.
  std::map<peer_id, int> asked{{x.guard.id, 1}};
  for (int look = 0; look < limits::hand_over_attempts; ++look) {
    CHECK(o.plan.unwanted(o.now).empty());
    while (auto y = o.plan.next(o.now)) {
      CHECK(++asked[y->guard.id] <= look + 1);
      o.plan.refused("ffn.1", y->guard.id, o.now);
    }
    CHECK(asked.size() == 5);
    o.now += limits::hand_over_pause;
    o.plan.expire(o.now);
  }
  CHECK(o.plan.unwanted(o.now) == std::vector<std::string>{"ffn.1"});
  CHECK(o.plan.unwanted(o.now).empty()); // Once.
}

TEST_CASE("few transfers run at once, and every expert has its turn") {
  owner o;
  o.plan.hosts(hosts(1, 6));
  std::set<std::string> uids;
  for (int i = 0; i < 50; ++i) {
    o.plan.saved("ffn." + std::to_string(i), 1, 64);
    uids.insert("ffn." + std::to_string(i));
  }
  std::vector<replication_plan::offer> flying;
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    while (auto x = o.plan.next(o.now))
      flying.push_back(*x);
    CHECK(flying.size() <= limits::replicas_sent_at_once);
    REQUIRE(!flying.empty());
    seen.insert(flying.front().uid);
    // Always a newer version of the first: the others must not starve.
    o.plan.saved("ffn.0", 1, 65 + static_cast<std::uint64_t>(i));
    o.plan.held(flying.front().uid, flying.front().guard.id, o.now);
    flying.erase(flying.begin());
  }
  CHECK(seen == uids);
}

TEST_CASE("whatever two hosts of one expert see of each other, exactly one "
          "gives way") {
  constexpr std::uint64_t seed = 11;
  MESSAGE("seed " << seed);
  random_stream chance(seed);
  for (int i = 0; i < 2000; ++i) {
    auto one = tenure{static_cast<std::uint32_t>(1 + chance.below(3)),
                      peer(static_cast<std::uint8_t>(1 + chance.below(9)))};
    auto other = tenure{static_cast<std::uint32_t>(1 + chance.below(3)),
                        peer(static_cast<std::uint8_t>(1 + chance.below(9)))};
    if (one.host != other.host)
      CHECK((one < other) != (other < one));
  }
}
