#include <doctest/doctest.h>

#include "runtime/averaging/round/helper_watch.hpp"
#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

/// Two trainers and two auxiliaries, which average two chunks each; this is the
/// first trainer.
struct scene {
  scene()
      : contract{contract_of({2, 2})}, map{8, 1, {2, 2, 2, 2}},
        roll{contract, peer(0)}, ledger{contract, map, 0}, it{map, 1} {
  }
  void all_come(std::size_t member, duration when) {
    it.mean_here(member, when);
    it.mean_here(member, when);
  }
  std::vector<std::size_t> stalled(bool committed, bool waited = true) const {
    return it.stalled(roll, ledger, committed,
                      std::vector<bool>(roll.size(), waited));
  }
  /// Member 0 averages the first chunk of the third member after all.
  void heal() {
    round_heal x;
    x.epoch = 0;
    x.alive = {0, 1, 3};
    for (std::uint32_t i = 0; i < 8; ++i)
      x.chunks.push_back({static_cast<std::uint8_t>(map.owner(i)), 1});
    x.chunks[4] = {0, 2};
    ledger.heal(x, std::vector<bool>(4, false));
  }
  group_contract contract;
  chunk_map map;
  member_roll roll;
  chunk_ledger ledger;
  helper_watch it;
};

using members = std::vector<std::size_t>;

} // namespace

TEST_CASE("auxiliaries that average in time have not stalled") {
  scene x;
  for (std::size_t i = 0; i < 4; ++i)
    x.all_come(i, 1s);
  CHECK(x.stalled(true).empty());
  CHECK(x.stalled(false).empty()); // Their round was called off.
}

TEST_CASE("an auxiliary that others had to stand in for has stalled") {
  scene x;
  for (std::size_t i : {0, 1, 3})
    x.all_come(i, 1s);
  x.heal();
  CHECK(x.stalled(true) == members{2});
}

TEST_CASE("a heal that leaves its chunks with it does not blame it") {
  scene x;
  round_heal heal;
  heal.alive = {0, 2, 3};
  for (std::uint32_t i = 0; i < 8; ++i)
    heal.chunks.push_back({static_cast<std::uint8_t>(x.map.owner(i)), 2});
  x.ledger.heal(heal, std::vector<bool>(4, false));
  CHECK(x.stalled(true).empty());
}

TEST_CASE("a mean that comes long after those of trainers is late") {
  scene x;
  x.all_come(0, 1s);
  x.all_come(1, 2s);
  x.all_come(2, 4500ms);
  x.all_come(3, 4501ms);
  CHECK(x.stalled(true) == members{3});
}

TEST_CASE("what was planned to take long is not late") {
  scene x;
  x.it = helper_watch{x.map, 60};
  x.all_come(0, 1s);
  x.all_come(1, 1s);
  x.all_come(2, 100s);
  x.all_come(3, 121s);
  CHECK(x.stalled(true) == members{3});
}

TEST_CASE("in a round that failed, those stalled that others outran") {
  scene x;
  x.all_come(3, 1s);
  SUBCASE("the trainers were ready") {
    x.all_come(0, 1s);
    x.all_come(1, 1s);
    CHECK(x.stalled(false) == members{2});
    CHECK(x.stalled(false, false).empty()); // Nobody has waited for it.
  }
  SUBCASE("nobody was") { // Somebody's parts were missing everywhere.
    CHECK(x.stalled(false).empty());
  }
}
