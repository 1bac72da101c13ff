#include "runtime/averaging/round/bulk_watch.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{100s};

/// The first of so many members, of which each averages two chunks, and the
/// patience is two seconds.
struct scene {
  explicit scene(std::size_t members, double planned = 0)
      : contract{contract_of({members, 0})}, map{2 * members, 1,
                                                 std::vector<std::uint32_t>(
                                                     members, 2)},
        x{(contract.patience_ms = 2000, contract),
          map,
          direct_lines{contract},
          0,
          planned,
          start} {
  }
  /// All of its parts.
  void brings(std::size_t member, time_point at) {
    for (std::uint32_t chunk : {0, 1})
      CHECK(x.part_came(member, chunk, at));
  }
  /// Whether a mean that comes then is news.
  bool is_news(time_point at) {
    x.mean_came(at);
    return x.last_news({}) == at;
  }

  group_contract contract;
  chunk_map map;
  bulk_watch x;
};

} // namespace

TEST_CASE("bulk is news as long as most are on their way") {
  scene s{5};
  CHECK(s.x.last_news({}) == time_point{});
  s.brings(1, start + 1s);
  s.brings(2, start + 1s);
  s.x.part_came(3, 0, start + 2s);
  CHECK(s.is_news(start + 1h)); // Two of four are not most.
  CHECK(s.x.last_news(start + 2h) == start + 2h);
}

TEST_CASE("behind most it is news for twice as long as they took") {
  scene s{5};
  for (std::size_t i : {1, 2, 3})
    s.brings(i, start + 5s);
  s.x.part_came(4, 0, start + 9s);
  CHECK(s.is_news(start + 10s));
  CHECK_FALSE(s.x.part_came(4, 0, start + 11s)); // The same once more.
  CHECK_FALSE(s.is_news(start + 11s));
  CHECK(s.x.last_news(start + 1h) == start + 10s);
}

TEST_CASE("no shorter than twice the plan, or the patience") {
  SUBCASE("the plan") {
    scene s{3, 30};
    s.brings(1, start);
    CHECK(s.is_news(start + 60s));
    CHECK_FALSE(s.is_news(start + 61s));
  }
  SUBCASE("the patience") {
    scene s{3, 1};
    s.brings(1, start);
    CHECK(s.is_news(start + 4s));
    CHECK_FALSE(s.is_news(start + 5s));
  }
}

TEST_CASE("of two nobody is late") {
  scene s{2};
  s.brings(1, start);
  CHECK(s.is_news(start + 1h));
}

TEST_CASE("what is sent anew has the time once more, but not for ever") {
  scene s{3};
  s.brings(1, start);
  auto now = start + 10s;
  CHECK_FALSE(s.is_news(now));
  s.x.begins_anew(now);
  CHECK(s.is_news(now + 2s));
  CHECK_FALSE(s.is_news(now + 3s));
  for (int i = 0; i < 100; ++i)
    s.x.begins_anew(now += 5s);
  CHECK_FALSE(s.is_news(now));
}

TEST_CASE("who still owes parts when these are no news holds the round up") {
  scene s{4};
  CHECK(s.x.averages());
  CHECK_FALSE(s.x.owed(0));
  CHECK(s.x.owed(1));
  s.x.part_came(2, 1, start);
  s.x.part_came(3, 7, start); // Of a chunk that this one does not average.
  CHECK_FALSE(s.x.brought_nothing(2));
  CHECK(s.x.brought_nothing(3));
  CHECK(s.x.has_come(2, 1));
  CHECK_FALSE(s.x.has_come(2, 0));
  s.x.look(start + 1h);
  CHECK_FALSE(s.x.owes(2)); // Nobody has brought all.
  CHECK_FALSE(s.x.any_late());
  s.brings(1, start + 1h);
  s.x.part_came(3, 0, start + 1h);
  s.x.part_came(3, 1, start + 1h);
  CHECK(s.x.owes(2));
  s.x.look(start + 2h);
  CHECK_FALSE(s.x.is_late(2));
  s.x.look(start + 2h + 1s);
  CHECK(s.x.is_late(2));
  s.x.part_came(2, 0, start + 4h);
  CHECK_FALSE(s.x.owes(2));
  CHECK(s.x.is_late(2)); // It was.
  CHECK_FALSE(s.x.is_late(1));
  CHECK_FALSE(s.x.is_late(3));
  s.x.withholds(3);
  CHECK(s.x.is_late(3));
}

TEST_CASE("parts that a reducer lost are owed again") {
  scene s{3};
  s.brings(1, start);
  s.x.forget(1);
  CHECK(s.x.has_come(1, 0));
  CHECK_FALSE(s.x.has_come(1, 1));
  CHECK(s.x.owes(1));
  CHECK(s.x.part_came(1, 1, start));
  CHECK_FALSE(s.x.owes(1));
}

TEST_CASE("whoever averages few chunks has its parts early") {
  auto contract = contract_of({3, 0});
  contract.patience_ms = 2000;
  // A fifth of what the others get, in a third of the time.
  bulk_watch x{contract, {11, 1, {1, 5, 5}}, direct_lines{contract}, 0, 0,
               start};
  x.part_came(1, 0, start + 30s);
  x.mean_came(start + 1h);
  CHECK(x.last_news({}) == start + 2 * 110s);
}

TEST_CASE("a member without chunks or lines is owed nothing") {
  auto contract = contract_of({3, 0});
  contract.members[2].relayed = {peer(1)};
  bulk_watch apart{contract, {4, 1, {2, 2, 0}}, direct_lines{contract}, 1, 0,
                   start};
  CHECK(apart.owed(0));
  CHECK_FALSE(apart.owed(2));
  bulk_watch spared{contract, {4, 1, {2, 2, 0}}, direct_lines{contract}, 2, 0,
                    start};
  CHECK_FALSE(spared.averages());
  CHECK_FALSE(spared.owed(0));
  CHECK_FALSE(spared.brought_nothing(0));
}
