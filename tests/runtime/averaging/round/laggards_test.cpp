#include "runtime/averaging/round/laggards.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

using members = std::vector<std::size_t>;

/// Four trainers with two chunks each and an auxiliary with one; this is the
/// first. The plan says one second, patience is two.
struct scene {
  explicit scene(bool relayed = false) {
    if (relayed)
      contract.members[3].relayed = {peer(0)};
    contract.patience_ms = 2000;
  }
  void parts_come(std::size_t member, duration when, int count = 2) {
    for (int i = 0; i < count; ++i)
      it().part_came(member, when);
  }
  void means_come(std::size_t member, duration when, int count = 2) {
    for (int i = 0; i < count; ++i)
      it().mean_came(member, when);
  }
  laggards& it() {
    if (!it_)
      it_.emplace(contract, map, direct_lines{contract}, 0, 1);
    return *it_;
  }
  group_contract contract = contract_of({4, 1});
  chunk_map map{9, 1, {2, 2, 2, 2, 1}};

private:
  std::optional<laggards> it_;
};

} // namespace

TEST_CASE("who sends parts one at a time is late when most have sent theirs") {
  scene x;
  x.parts_come(1, 3s);
  x.parts_come(3, 4s, 1);
  CHECK(x.it().without_parts(1h).empty()); // Most are as slow.
  x.parts_come(2, 5s);
  // Two others and this one of four, and the patience.
  CHECK(x.it().without_parts(7s - 1ns).empty());
  CHECK(x.it().without_parts(7s) == members{3});
  x.parts_come(3, 10s, 1);
  CHECK(x.it().without_parts(1h).empty());
}

TEST_CASE("nobody is late before the plan's time") {
  scene x;
  x.parts_come(1, 1ms);
  x.parts_come(2, 1ms);
  CHECK(x.it().without_parts(3s - 1ns).empty());
  CHECK(x.it().without_parts(3s) == members{3});
}

TEST_CASE("means are late after twice as much") {
  scene x;
  x.means_come(1, 2s);
  x.means_come(2, 2s);
  // The auxiliary averages, too: this one and two others are most of five.
  CHECK(x.it().without_means(6s - 1ns).empty());
  CHECK(x.it().without_means(6s) == members{3, 4});
  x.means_come(4, 11s, 1);
  CHECK(x.it().without_means(11s) == members{3});
}

TEST_CASE("who has no line to this member or no samples owes it nothing") {
  scene x{true};
  x.contract.members[1].samples = 0;
  x.parts_come(2, 1s);
  CHECK(x.it().without_parts(1h).empty());
  x.means_come(1, 1s);
  x.means_come(2, 1s);
  CHECK(x.it().without_means(1h) == members{4});
}

TEST_CASE("of two members neither is late") {
  const auto contract = contract_of({2, 0});
  laggards it{contract, {4, 1, {2, 2}}, direct_lines{contract}, 0, 1};
  it.part_came(1, 1s);
  CHECK(it.without_parts(1h).empty());
  CHECK(it.without_means(1h).empty());
}
