#include "actors/amendment_keeper.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "runtime/state/run_manifest.hpp"
#include "tests/actors/node.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

const key_pair& organiser() {
  static const auto key = key_pair::generate();
  return key;
}

manifest soup() {
  return unwrap(sign_charter(tiny_charter(100, 64), organiser()));
}

std::string word(std::uint64_t number, run_change change,
                 std::uint64_t from = 0, const key_pair& key = organiser()) {
  amendment x;
  x.run = soup().id();
  x.number = number;
  x.from = from;
  x.change = std::move(change);
  return sign_amendment(x, key);
}

/// A node with an amendment keeper.
struct member : node {
  member(test_world& world, std::uint8_t number,
         std::vector<std::uint8_t> seeds = {}, role as = role::trainer,
         std::string folder = "")
      : node(world, number, std::move(seeds), as, soup().run()) {
    amendment_keeper_config c;
    c.self = id;
    c.run = as == role::bootstrap ? "" : soup().run();
    c.folder = std::move(folder);
    c.by_list = by_list;
    replace(&wiring::amendment_keeper,
            (*system).spawn(amendment_keeper, std::move(c)));
  }
  void learns_manifest() {
    caf::anon_send(wired.amendment_keeper,
                   manifest_known{soup().run(), std::make_shared<std::string>(
                                                    soup().to_bytes())});
  }
  /// Somebody hands it this.
  void is_told(const std::string& amendment, std::uint8_t by = 200) {
    caf::anon_send(
        wired.amendment_keeper,
        letter{peer(by), amendments_reply{0, soup().run(), {{amendment}}}, {}});
  }
  shared_terms terms() const {
    return parent->last<terms_known>().terms;
  }

  std::shared_ptr<list_runs> by_list = std::make_shared<list_runs>();
};

} // namespace

TEST_CASE("what the organiser says at one peer all go by") {
  test_world world;
  member hub{world, 7, {}, role::bootstrap};
  member a{world, 1, {7}};
  member b{world, 2, {7}};
  for (auto* x : {&hub, &a, &b})
    x->learns_manifest();
  REQUIRE(world.run_until(
      [&] {
        return a.parent->count<terms_known>() > 0
               && b.parent->count<terms_known>() > 0;
      },
      5s));
  CHECK_FALSE(a.terms());
  a.is_told(word(1, new_steps{60}, 41));
  REQUIRE(world.run_until([&] { return a.terms() && b.terms(); }, 2s));
  CHECK(b.terms()->steps(50) == 60);
  CHECK(b.observer->events("amendment").size() == 1);
  CHECK(hub.observer->events("amendment").size() == 1);
}

TEST_CASE("an authority hears which runs admit by the list") {
  test_world world;
  member authority{world, 7, {}, role::bootstrap};
  authority.learns_manifest();
  authority.is_told(word(1, new_admission{admission_mode::list}));
  REQUIRE(world.run_until([&] { return authority.by_list->has(soup().run()); },
                          2s));
  authority.is_told(word(2, new_admission{admission_mode::token}));
  CHECK(world.run_until([&] { return !authority.by_list->has(soup().run()); },
                        2s));
}

TEST_CASE("a newcomer hears of it before it trains") {
  test_world world;
  member hub{world, 7, {}, role::bootstrap};
  hub.learns_manifest();
  world.run_for(100ms);
  hub.is_told(word(1, pause_run{}, 3));
  hub.is_told(word(2, resume_run{}));
  world.run_for(100ms);
  member late{world, 1, {7}};
  REQUIRE(world.run_until(
      [&] { return late.observer->events("join").size() == 1; }, 5s));
  late.learns_manifest();
  REQUIRE(world.run_until([&] { return late.parent->count<terms_known>() > 0; },
                          3s));
  REQUIRE(late.terms());
  CHECK(late.observer->events("amendment").size() == 2);
}

TEST_CASE("a forged amendment goes nowhere, and its sender is accused") {
  test_world world;
  member a{world, 1};
  member b{world, 2, {1}};
  a.learns_manifest();
  b.learns_manifest();
  world.run_for(1s);
  a.is_told(word(1, finish_run{}, 0, key_pair::generate()));
  auto other_run = word(1, finish_run{});
  other_run[3] ^= 1;
  a.is_told(other_run);
  a.is_told(word(2, finish_run{})); // Out of order.
  world.run_for(2s);
  CHECK_FALSE(a.terms());
  CHECK_FALSE(b.terms());
  const auto faults = a.observer->events("fault");
  REQUIRE(faults.size() == 2);
  CHECK(field<std::string>(faults[0], "detail").find("no organiser")
        != std::string::npos);
  CHECK(field<std::string>(faults[1], "detail").find("changed")
        != std::string::npos);
  CHECK(b.observer->events("fault").empty());
}

TEST_CASE("whom the organiser bans is refused, and ends with a sentence") {
  test_world world;
  member hub{world, 7, {}, role::bootstrap};
  member a{world, 1, {7}};
  member bad{world, 2, {7}};
  for (auto* x : {&hub, &a, &bad})
    x->learns_manifest();
  REQUIRE(world.run_until(
      [&] {
        return a.observer->events("join").size() == 2
               && bad.observer->events("join").size() == 2;
      },
      10s));
  a.is_told(word(1, new_bans{false, {peer(2)}}));
  REQUIRE(world.run_until(
      [&] {
        return a.observer->events("departure").size() == 1
               && hub.observer->events("departure").size() == 1;
      },
      5s));
  REQUIRE(bad.observer->count<peer_over>() > 0);
  const auto over = bad.observer->all<peer_over>().front();
  CHECK(over.problem.find("has banned this peer") != std::string::npos);
  CHECK_FALSE(over.users_mistake);
  world.run_for(60s);
  CHECK(a.observer->events("join").size() == 2); // It does not come back.
  CHECK(hub.observer->events("join").size() == 2);
  // Nor does it under way: the ban is lifted first.
  a.is_told(word(2, new_bans{true, {peer(2)}}));
  CHECK(world.run_until(
      [&] { return hub.observer->events("join").size() == 3; }, 10min));
}

TEST_CASE("what was heard outlives the peer, and a damaged file is said") {
  support::temporary_directory there;
  test_world world;
  {
    member a{world, 1, {}, role::trainer, there.path()};
    a.learns_manifest();
    world.run_for(100ms);
    a.is_told(word(1, new_steps{60}, 41));
    a.is_told(word(2, pause_run{}, 50));
    world.run_for(100ms);
    a.crash();
  }
  member again{world, 2, {}, role::trainer, there.path()};
  again.learns_manifest();
  world.run_for(100ms);
  REQUIRE(again.terms());
  CHECK(again.terms()->paused(49));
  CHECK(again.observer->events("fault").empty());

  const auto path = there / (run_file_name(soup().run()) + ".amendments");
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(-70, std::ios::end);
  file.put('x');
  file.close();
  member half{world, 3, {}, role::trainer, there.path()};
  half.learns_manifest();
  world.run_for(100ms);
  REQUIRE(half.terms());
  CHECK_FALSE(half.terms()->paused(49));
  CHECK(half.observer->events("fault").size() == 1);
}
