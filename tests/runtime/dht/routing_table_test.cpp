#include "runtime/dht/routing_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace potluck;
using namespace std::chrono_literals;

using verdict = routing_table::verdict;

namespace {

contact at(const peer_id& id, std::uint16_t port = 7000) {
  return {id, {"10.0.0.1", port}};
}

/// A contact for the bucket `bits` of `self`.
contact neighbour(const peer_id& self, std::size_t bits,
                  random_stream& random) {
  peer_id id;
  id.bytes = random_point(self, bits, random).bytes;
  return at(id);
}

} // namespace

TEST_CASE("a random point of a bucket lies in that bucket") {
  random_stream random{1};
  auto self = random.draw<peer_id>();
  for (std::size_t bits = 0; bits < point_bits; ++bits)
    CHECK(common_prefix_bits(self, random_point(self, bits, random)) == bits);
  CHECK_THROWS(random_point(self, point_bits, random));
}

TEST_CASE("closest lists exactly the closest, in order") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    auto self = random.draw<peer_id>();
    routing_table table{self, 1000};
    std::vector<peer_id> all;
    for (int i = 0; i < 300; ++i) {
      all.push_back(random.draw<peer_id>());
      table.seen(at(all.back()), time_point{});
    }
    auto target = random.draw<record_key>();
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return closer(target, a, b);
    });
    for (std::size_t n : {0u, 1u, 20u, 300u, 400u}) {
      auto found = table.closest(target, n);
      REQUIRE(found.size() == std::min<std::size_t>(n, 300));
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i].id == all[i]);
    }
  }
}

TEST_CASE("neither oneself nor what cannot be dialled gets a place") {
  random_stream random{2};
  auto self = random.draw<peer_id>();
  routing_table table{self};
  auto id = random.draw<peer_id>();
  CHECK(table.seen(at(self), time_point{}).what == verdict::itself);
  CHECK(table.seen(at(id, 0), time_point{}).what == verdict::undialable);
  CHECK(table.seen({id, {"", 7000}}, time_point{}).what == verdict::undialable);
  CHECK(table.seen({id, {std::string(254, 'x'), 7000}}, time_point{}).what
        == verdict::undialable);
  CHECK(table.seen({peer_id{}, {"10.0.0.1", 7000}}, time_point{}).what
        == verdict::undialable);
  CHECK(table.size() == 0);
  table.failed(self);
  table.remove(self);
  CHECK_FALSE(table.find(self));
}

TEST_CASE("a full bucket asks for a ping of its oldest contact, once") {
  random_stream random{3};
  auto self = random.draw<peer_id>();
  routing_table table{self, 2};
  time_point now{};
  auto a = neighbour(self, 4, random);
  auto b = neighbour(self, 4, random);
  auto c = neighbour(self, 4, random);
  CHECK(table.seen(a, now).what == verdict::added);
  CHECK(table.seen(b, now + 1s).what == verdict::added);

  auto early = table.seen(c, now + 2s);
  CHECK(early.what == verdict::waiting);
  CHECK_FALSE(early.ping); // a was heard two seconds ago
  auto late = table.seen(c, now + 2min);
  CHECK(late.what == verdict::waiting);
  REQUIRE(late.ping);
  CHECK(*late.ping == a);
  CHECK_FALSE(table.seen(c, now + 2min + 1s).ping);

  SUBCASE("which stays when it answers") {
    table.seen(a, now + 2min + 2s);
    CHECK(table.find(a.id));
    CHECK_FALSE(table.find(c.id));
    // b is the oldest now.
    auto next = table.seen(c, now + 4min);
    REQUIRE(next.ping);
    CHECK(*next.ping == b);
  }
  SUBCASE("which is replaced when it fails") {
    table.failed(a.id);
    CHECK_FALSE(table.find(a.id));
    CHECK(table.find(b.id));
    CHECK(table.find(c.id));
    CHECK(table.size() == 2);
  }
}

TEST_CASE("without a replacement a contact survives two failures, not three") {
  random_stream random{4};
  auto self = random.draw<peer_id>();
  routing_table table{self};
  auto a = at(random.draw<peer_id>());
  table.seen(a, time_point{});
  table.failed(a.id);
  table.failed(a.id);
  CHECK(table.find(a.id));
  table.seen(a, time_point{1s}); // heard: the count starts anew
  table.failed(a.id);
  table.failed(a.id);
  CHECK(table.find(a.id));
  table.failed(a.id);
  CHECK_FALSE(table.find(a.id));
}

TEST_CASE("contacts that failed are named only for want of others") {
  random_stream random{5};
  auto self = random.draw<peer_id>();
  routing_table table{self, 100};
  std::vector<contact> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(at(random.draw<peer_id>()));
    table.seen(all.back(), time_point{});
  }
  auto target = random.draw<record_key>();
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return closer(target, a.id, b.id);
  });
  table.failed(all[0].id);
  table.failed(all[3].id);
  auto eight = table.closest(target, 8);
  REQUIRE(eight.size() == 8);
  CHECK(std::find(eight.begin(), eight.end(), all[0]) == eight.end());
  CHECK(std::find(eight.begin(), eight.end(), all[3]) == eight.end());
  auto nine = table.closest(target, 9);
  REQUIRE(nine.size() == 9);
  CHECK(nine[0] == all[0]); // in order, and the closer of the two that failed
  CHECK(std::find(nine.begin(), nine.end(), all[3]) == nine.end());
  CHECK(table.closest(target, 100) == all);
}

TEST_CASE("a living contact cannot be moved, a silent or failing one can") {
  random_stream random{6};
  auto self = random.draw<peer_id>();
  routing_table table{self};
  auto id = random.draw<peer_id>();
  table.seen(at(id, 1), time_point{});
  CHECK(table.seen(at(id, 2), time_point{1s}).what == verdict::contested);
  CHECK(table.find(id)->where.port == 1);
  CHECK(table.seen(at(id, 2), time_point{2min}).what == verdict::refreshed);
  CHECK(table.find(id)->where.port == 2);
  table.failed(id);
  CHECK(table.seen(at(id, 3), time_point{2min}).what == verdict::refreshed);
  CHECK(table.find(id)->where.port == 3);
  CHECK(table.size() == 1);
}

TEST_CASE("of one network two have a place in a bucket, and ten in all") {
  random_stream random{8};
  auto self = random.draw<peer_id>();
  routing_table table{self};
  const auto in = [&](const std::string& host, std::size_t bits) {
    auto x = neighbour(self, bits, random);
    x.where.host = host;
    return x;
  };
  const auto tell = [&](const contact& x, duration when = 0s) {
    return table.seen(x, time_point{when}).what;
  };
  SUBCASE("whichever of its addresses they have") {
    const auto first = in("11.0.7.1", 3);
    CHECK(tell(first) == verdict::added);
    CHECK(tell(in("11.0.7.200", 3)) == verdict::added);
    CHECK(tell(in("::ffff:11.0.7.9", 3)) == verdict::crowded);
    CHECK(tell(in("11.0.8.1", 3)) == verdict::added);
    CHECK(tell(first, 1s) == verdict::refreshed);
    for (std::size_t bits = 4; bits < 8; ++bits) {
      CHECK(tell(in("11.0.7.3", bits)) == verdict::added);
      CHECK(tell(in("11.0.7.3", bits)) == verdict::added);
    }
    CHECK(tell(in("11.0.7.4", 9)) == verdict::crowded);
    table.remove(first.id);
    CHECK(tell(in("11.0.7.4", 9)) == verdict::added);
    CHECK(table.size() == 11);
  }
  SUBCASE("and one that does not answer makes room for another of them") {
    const auto silent = in("3fff:0:101::1", 3);
    CHECK(tell(silent) == verdict::added);
    CHECK(tell(in("3fff:0:101:2::1", 3)) == verdict::added);
    const auto third = in("3fff:0:101:3::1", 3);
    CHECK(tell(third) == verdict::crowded);
    table.failed(silent.id);
    CHECK(tell(third) == verdict::added);
    CHECK_FALSE(table.find(silent.id));
  }
  SUBCASE("nor does one move into a crowd") {
    auto mover = in("11.0.9.1", 3);
    CHECK(tell(mover) == verdict::added);
    CHECK(tell(in("11.0.7.1", 3)) == verdict::added);
    CHECK(tell(in("11.0.7.2", 3)) == verdict::added);
    mover.where.host = "11.0.7.3";
    CHECK(tell(mover, 2min) == verdict::crowded);
    CHECK(table.find(mover.id)->where.host == "11.0.9.1");
  }
  SUBCASE("but a house, and a machine, may be full of them") {
    for (int i = 0; i < 20; ++i) {
      CHECK(tell(in("192.168.1.7", 3)) == verdict::added);
      CHECK(tell(in("127.0.0.1", 4)) == verdict::added);
      CHECK(tell(in("fd00::1", 5)) == verdict::added);
    }
  }
}

TEST_CASE("a thousand ids of one network leave the others where they are") {
  random_stream random{9};
  auto self = random.draw<peer_id>();
  routing_table table{self};
  for (int i = 0; i < 1000; ++i) {
    auto x = neighbour(self, random.below(16), random);
    x.where.host = "11.0.7." + std::to_string(i % 250);
    table.seen(x, time_point{});
  }
  CHECK(table.size() == routing_table::most_of_crowd_in_all);
  std::size_t honest = 0;
  for (int i = 0; i < 20; ++i) {
    auto x = neighbour(self, 2, random);
    x.where.host = "11.1." + std::to_string(i) + ".1";
    honest += table.seen(x, time_point{}).what == verdict::added;
  }
  CHECK(honest >= 18);
}

TEST_CASE("who was here for long is not given up at the first lost answer") {
  random_stream random{10};
  auto self = random.draw<peer_id>();
  routing_table table{self, 1};
  const auto old = neighbour(self, 4, random);
  const auto waiting = neighbour(self, 4, random);
  table.seen(old, time_point{});
  table.seen(old, time_point{} + routing_table::settled_after);
  const auto later = time_point{} + routing_table::settled_after + 1s;
  CHECK(table.seen(waiting, later).what == verdict::waiting);
  table.failed(old.id);
  CHECK(table.seen(waiting, later).what == verdict::waiting);
  table.failed(old.id);
  CHECK(table.find(old.id));
  table.failed(old.id);
  CHECK_FALSE(table.find(old.id));
  CHECK(table.find(waiting.id));
}

TEST_CASE("refreshing covers the own id and every bucket a look-up may miss") {
  random_stream random{7};
  auto self = random.draw<peer_id>();
  routing_table table{self, 4};
  for (std::size_t bits = 0; bits < 6; ++bits)
    for (int i = 0; i < 4; ++i)
      table.seen(neighbour(self, bits, random), time_point{});
  auto targets = table.refresh_targets(time_point{}, random, 100);
  // 24 contacts; beyond bucket 5 there is none, so 0 to 5 and the own id.
  REQUIRE(targets.size() == 7);
  CHECK(targets[0] == point_of(self));
  for (std::size_t i = 1; i < targets.size(); ++i)
    CHECK(common_prefix_bits(self, targets[i]) == i - 1);
  CHECK(table.refresh_targets(time_point{1s}, random, 100).empty());

  table.looked_up(targets[3], time_point{5min});
  const auto own = table.refresh_targets(time_point{10min}, random, 100);
  REQUIRE(own.size() == 1);
  CHECK(own[0] == point_of(self));
  CHECK(table.refresh_targets(time_point{30min}, random, 2).size() == 2);
  CHECK(table.refresh_targets(time_point{30min}, random, 100).size() == 4);
  CHECK(table.refresh_targets(time_point{35min}, random, 100).size() == 1);
}

TEST_CASE("whatever happens, a table is bounded and keeps every id in place") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    auto self = random.draw<peer_id>();
    routing_table table{self, 3};
    time_point now{};
    std::vector<contact> met;
    for (int i = 0; i < 3000; ++i) {
      now += std::chrono::seconds(random.below(30));
      // Mostly neighbours: the buckets that an attacker would fill.
      if (met.empty() || random.below(2) == 0)
        met.push_back(neighbour(self, random.below(12), random));
      auto& who = met[random.below(met.size())];
      switch (random.below(5)) {
        case 0:
          table.failed(who.id);
          break;
        case 1:
          table.remove(who.id);
          CHECK_FALSE(table.find(who.id));
          break;
        default: {
          auto ping = table.seen(who, now).ping;
          if (ping)
            CHECK(table.find(ping->id));
        }
      }
      REQUIRE(table.size() <= 36);
    }
    auto all = table.closest(random.draw<record_key>(), 1000);
    CHECK(all.size() == table.size());
    std::set<peer_id> ids;
    std::vector<int> per_bucket(point_bits, 0);
    for (auto& x : all) {
      ids.insert(x.id);
      ++per_bucket[common_prefix_bits(self, x.id)];
    }
    CHECK(ids.size() == all.size());
    CHECK(*std::max_element(per_bucket.begin(), per_bucket.end()) <= 3);
  }
}

TEST_CASE(
    "of each bucket the contact that has been there for longest is told") {
  random_stream random{11};
  const auto self = random.draw<peer_id>();
  routing_table table{self};
  CHECK(table.longest_known().empty());
  std::vector<contact> first;
  for (std::size_t bits : {0u, 3u, 9u}) {
    first.push_back(neighbour(self, bits, random));
    table.seen(first.back(), time_point{});
    for (std::size_t i = 1; i < bucket_size; ++i)
      table.seen(neighbour(self, bits, random), time_point{1s * i});
  }
  for (auto& x : first) // That it is heard again changes nothing.
    table.seen(x, time_point{1min});
  CHECK(table.longest_known() == first);
}
