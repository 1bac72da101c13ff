/// Whole peers of a created run go by what its organiser says.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "runtime/organiser/amendment.hpp"
#include "runtime/state/kept_states.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

struct amended_run {
  explicit amended_run(std::uint8_t peers,
                       const std::string& averaging = "exact")
      : organiser(key_pair::generate()) {
    auto settings = tiny_charter(100000, 64).settings();
    settings.averaging_method = averaging;
    if (settings.redraws_groups()) {
      settings.reserve = 0;
      settings.packing = "float32";
      settings.group_size = 2;
    }
    settings.keep_every = 10;
    settings.keep_states = 8;
    what = std::make_unique<manifest>(
        unwrap(sign_charter(charter{settings, ""}, organiser)));
    for (std::uint8_t i = 1; i <= peers; ++i)
      add(i);
    REQUIRE(reach(45));
    for (auto& x : all) // Of when they joined.
      downloads[x.get()] = x->observer->events("state_download").size();
  }

  whole_peer& add(std::uint8_t number) {
    auto c = tiny_peer(world.network, number,
                       number == 1 ? std::vector<std::uint8_t>{}
                                   : std::vector<std::uint8_t>{1},
                       1);
    c.run = what->run();
    c.propose = nullptr;
    c.manifests[c.run] = what->to_bytes();
    c.kept_states_folder = kept_by(number);
    all.push_back(std::make_unique<whole_peer>(world, std::move(c)));
    return *all.back();
  }
  std::string kept_by(std::uint8_t number) const {
    return folder / std::to_string(number);
  }
  /// Somebody brings the organiser's word to the first peer.
  void say(run_change change, std::uint64_t from = 0) {
    amendment x;
    x.run = what->id();
    x.number = ++said;
    x.from = from;
    x.change = std::move(change);
    all[0]->children.tell(
        "amendment_keeper",
        letter{
            peer(200),
            amendments_reply{0, what->run(), {{sign_amendment(x, organiser)}}},
            {}});
  }
  bool reach(std::uint64_t step) {
    return world.run_until(
        [&] {
          return std::all_of(all.begin(), all.end(),
                             [&](auto& x) { return x->step() >= step; });
        },
        120s);
  }
  bool all_over(duration patience = 60s) {
    return world.run_until(
        [&] {
          return std::all_of(all.begin(), all.end(),
                             [](auto& x) { return x->over(); });
        },
        patience);
  }
  /// Of the steps that a peer made, from its event `first` on; the last of a
  /// step counts.
  static std::map<std::uint64_t, std::string> digests(const whole_peer& x,
                                                      std::size_t first = 0) {
    std::map<std::uint64_t, std::string> result;
    auto steps = x.observer->events("step");
    for (auto i = first; i < steps.size(); ++i)
      result[field<std::uint64_t>(steps[i], "step")]
          = field<std::string>(steps[i], "digest");
    return result;
  }

  support::temporary_directory folder;
  test_world world;
  key_pair organiser;
  std::unique_ptr<manifest> what;
  std::vector<std::unique_ptr<whole_peer>> all;
  std::map<const whole_peer*, std::size_t> downloads;
  std::uint64_t said = 0;
};

} // namespace

TEST_CASE("all end with the step that the organiser names") {
  amended_run run{3};
  const auto end = run.all[0]->step() + 30;
  run.say(new_steps{end}, end - 20);
  REQUIRE(run.all_over());
  for (auto& x : run.all) {
    INFO(x->log());
    CHECK(x->step() == end);
    CHECK(x->digest() == run.all[0]->digest());
    CHECK(x->observer->all<peer_over>().front().problem.empty());
  }
}

TEST_CASE("a run is paused at one step, gets another tail, and is finished") {
  amended_run run{3};
  const auto from = run.all[0]->step() + 10;
  run.say(pause_run{}, from);
  run.world.run_for(30s);
  for (auto& x : run.all) {
    CHECK(x->step() == from - 1);
    CHECK(x->observer->last<run_status>().trouble.find("paused")
          != std::string::npos);
  }
  run.say(new_rate_tail{5}, from);
  run.say(resume_run{});
  REQUIRE(run.reach(from + 20));
  const auto end = run.all[0]->step() + 10;
  run.say(finish_run{}, end);
  REQUIRE(run.all_over());
  for (auto& x : run.all) {
    CHECK(x->step() == end);
    CHECK(amended_run::digests(*x) == amended_run::digests(*run.all[0]));
    CHECK(x->observer->events("state_download").size()
          == run.downloads.at(x.get()));
    CHECK(x->observer->events("amendment").size() == 4);
  }
}

TEST_CASE("who comes later goes by what was said before") {
  amended_run run{2};
  run.say(new_rate_tail{7}, run.all[0]->step() + 5);
  REQUIRE(run.reach(run.all[0]->step() + 10));
  run.add(3);
  REQUIRE(run.reach(run.all[0]->step() + 30));
  const auto last = amended_run::digests(*run.all[2]);
  const auto first = amended_run::digests(*run.all[0]);
  REQUIRE(last.size() > 5);
  for (const auto& [step, digest] : last)
    if (auto at = first.find(step); at != first.end())
      CHECK(at->second == digest);
}

TEST_CASE("whom the organiser bans is out, and the others go on") {
  amended_run run{3};
  run.say(new_bans{false, {peer(3)}});
  REQUIRE(run.world.run_until([&] { return run.all[2]->over(); }, 10s));
  const auto over = run.all[2]->observer->all<peer_over>().front();
  CHECK(over.problem.find("has banned this peer") != std::string::npos);
  CHECK_FALSE(over.users_mistake);
  const auto at = run.all[2]->step();
  run.all.pop_back();
  REQUIRE(run.reach(at + 20));
}

TEST_CASE("four peers go back by twenty steps, one of which kept nothing") {
  amended_run run{4};
  const auto from = run.all[0]->step() + 10;
  run.say(pause_run{}, from);
  run.world.run_for(10s);
  const auto last = run.all[0]->step();
  REQUIRE(last == from - 1);
  const auto to = (last - 20) / 10 * 10;
  const auto then = amended_run::digests(*run.all[0]).at(to);
  std::filesystem::remove_all(run.kept_by(4));
  run.say(roll_back{to, *parse_id<digest>(then)});
  run.world.run_for(20s);
  for (auto& x : run.all) {
    INFO(x->log());
    auto back = x->observer->events("rolled_back");
    REQUIRE(back.size() == 1);
    const bool kept = x != run.all[3];
    CHECK(field<std::uint64_t>(back[0], "step") == (kept ? to : 0));
    auto fetched = x->observer->events("state_download");
    REQUIRE(fetched.size() == run.downloads.at(x.get()) + (kept ? 0u : 1u));
    if (!kept) {
      CHECK(field<std::uint64_t>(fetched.back(), "step") == to);
      CHECK(field<std::string>(fetched.back(), "digest") == then);
    }
  }
  for (std::uint8_t i = 1; i <= 3; ++i) {
    const auto states = kept_states{run.kept_by(i), 1}.all();
    REQUIRE_FALSE(states.empty());
    CHECK(states.rbegin()->first == to);
  }
  std::vector<std::size_t> made;
  for (auto& x : run.all)
    made.push_back(x->observer->events("step").size());
  run.say(resume_run{});
  run.world.run_for(10s);
  const auto first = amended_run::digests(*run.all[0], made[0]);
  REQUIRE(first.size() > 10);
  CHECK(first.begin()->first == to + 1);
  for (std::size_t i = 1; i < 4; ++i) {
    const auto others = amended_run::digests(*run.all[i], made[i]);
    CHECK(others.begin()->first == to + 1);
    for (const auto& [step, digest] : others)
      if (auto at = first.find(step); at != first.end())
        CHECK(at->second == digest);
  }
}

TEST_CASE("where groups are redrawn each peer goes back to its own state of "
          "then, and who has none fetches one") {
  amended_run run{3, "moshpit"};
  auto last = run.all[0]->step();
  for (auto& x : run.all)
    last = std::min(last, x->step());
  const auto to = (last - 20) / 10 * 10;
  std::vector<std::string> then;
  for (auto& x : run.all)
    then.push_back(amended_run::digests(*x).at(to));
  std::filesystem::remove_all(run.kept_by(3));
  run.say(roll_back{to, {}});
  REQUIRE(run.world.run_until(
      [&] {
        return std::all_of(run.all.begin(), run.all.end(), [](auto& x) {
          return !x->observer->events("rolled_back").empty();
        });
      },
      30s));
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto back = run.all[i]->observer->events("rolled_back").front();
    CHECK(field<std::uint64_t>(back, "step") == (i < 2 ? to : 0));
    if (i < 2)
      CHECK(field<std::string>(back, "digest") == then[i]);
    made.push_back(run.all[i]->observer->events("step").size());
  }
  run.world.run_for(20s);
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(run.all[i]->log());
    const auto since = amended_run::digests(*run.all[i], made[i]);
    REQUIRE(since.size() > 5);
    CHECK(since.begin()->first > to);
  }
}
