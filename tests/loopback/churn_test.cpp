/// Peers that are killed, or fall silent, at the worst moments.

#include "tests/loopback/scene.hpp"

#include <algorithm>
#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// A gradient of many chunks, so that a round is long enough to be hit.
words many_chunks() {
  return {"--chunk-values",      "256", "--hidden-size",    "128",
          "--intermediate-size", "256", "--embedding-size", "64"};
}

struct party {
  scene s;
  std::vector<peer*> all;

  party(std::size_t size, const words& settings) {
    auto seed = s.bootstrap().address();
    for (std::size_t i = 0; i < size; ++i)
      all.push_back(&s.join(std::string(1, static_cast<char>('a' + i)),
                            words{"--peer", seed} + settings));
    for (auto p : all)
      p->id();
  }

  /// The trainer with the smallest id leads the groups; those with greater ids
  /// follow.
  peer* leader() {
    return *std::min_element(all.begin(), all.end(),
                             [](auto a, auto b) { return a->id() < b->id(); });
  }
  peer* last_follower() {
    return *std::max_element(all.begin(), all.end(),
                             [](auto a, auto b) { return a->id() < b->id(); });
  }

  /// The others, from now on.
  void without(peer* lost) {
    all.erase(std::remove(all.begin(), all.end(), lost), all.end());
  }

  /// Until all have taken `step` in one group.
  void together(std::uint64_t step) {
    for (auto p : all) {
      auto found = p->log.await(
          [&](const json& x) {
            return x.at("event") == "step" && x.at("step") >= step
                   && x.at("peers") == all.size();
          },
          startup_patience);
      REQUIRE(!found.is_null());
    }
  }
};

double unix_time() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// What a step took lately, at its slowest: of the last five.
double usual_step(peer& who) {
  auto steps = who.log.named("step");
  double result = 0;
  for (auto i = steps.size() < 5 ? 0 : steps.size() - 5; i < steps.size(); ++i)
    result = std::max(result, steps[i].at("seconds").get<double>());
  return result;
}

/// The step after a loss: what was noticed at `noticed_within` seconds costs a
/// settle and one more attempt. The step may take five times what it took
/// before, since fewer share it on a machine that does other things as well.
void check_goes_on(const std::vector<peer*>& survivors, double since,
                   double noticed_within) {
  for (auto p : survivors) {
    auto deadline = noticed_within + 2 + 5 * usual_step(*p);
    auto next = p->log.await(
        [&](const json& x) {
          return x.at("event") == "step" && x.at("time") > since;
        },
        startup_patience);
    INFO(replay_line(p->process.what()) << "\nprinted:\n"
                                        << p->process.output());
    REQUIRE(!next.is_null());
    CHECK(next.at("time").get<double>() - since < deadline);
  }
}

/// The connection of a killed process breaks at once.
constexpr double a_kill_is_noticed_within = 1;
/// A silent one's is given up after twenty seconds at the latest (the cap of
/// runtime/membership/silence_detector.hpp), and sooner where its heartbeats
/// were regular or a round waits for it.
constexpr double silence_is_noticed_within = 20;

void kill_when(party& p, peer* victim, const std::string& event) {
  victim->await(event, startup_patience, victim->log.lines().size());
  auto since = unix_time();
  victim->process.signal(SIGKILL);
  p.without(victim);
  check_goes_on(p.all, since, a_kill_is_noticed_within);
}

} // namespace

TEST_CASE("a leader killed in a round and a follower killed between rounds "
          "cost the others seconds") {
  party p{4, tiny_run(256, 40) + many_chunks()};
  p.together(5);
  kill_when(p, p.leader(), "plan");
  kill_when(p, p.last_follower(), "step");
  check_all_finish(p.all);
  CHECK(check_equal_digests(p.all) >= 30);
  for (auto x : p.all)
    check_steps(*x, 256);
}

TEST_CASE("a follower killed in a round and a leader killed between rounds "
          "cost the others seconds") {
  party p{4, tiny_run(256, 40) + many_chunks()};
  p.together(5);
  kill_when(p, p.last_follower(), "plan");
  kill_when(p, p.leader(), "step");
  check_all_finish(p.all);
  CHECK(check_equal_digests(p.all) >= 30);
  for (auto x : p.all)
    check_steps(*x, 256);
}

TEST_CASE("four peers killed one after the other leave one that finishes") {
  // Whatever the moment: the kills come when the next step or plan of some
  // other peer is seen, so they fall anywhere in the victim's own step.
  party p{5, tiny_run(256, 40) + many_chunks()};
  p.together(3);
  while (p.all.size() > 1) {
    auto victim = p.all.size() % 2 ? p.leader() : p.last_follower();
    auto witness = victim == p.all.front() ? p.all.back() : p.all.front();
    witness->await(p.all.size() > 3 ? "plan" : "round", startup_patience,
                   witness->log.lines().size());
    auto since = unix_time();
    victim->process.signal(SIGKILL);
    p.without(victim);
    check_goes_on(p.all, since, a_kill_is_noticed_within);
  }
  check_all_finish(p.all);
}

TEST_CASE("a stopped leader is left behind, and comes back with the others' "
          "state") {
  party p{3, tiny_run(256, 1000000)};
  p.together(8);
  auto stopped = p.leader();
  stopped->await("plan", startup_patience, stopped->log.lines().size());
  auto since = unix_time();
  stopped->process.signal(SIGSTOP);
  auto before = stopped->last_step();
  p.without(stopped);
  check_goes_on(p.all, since, silence_is_noticed_within);
  p.together(before + 10);

  auto seen = stopped->log.lines().size();
  stopped->process.signal(SIGCONT);
  auto download = stopped->await("state_download", startup_patience, seen);
  CHECK(download.at("step") > before + 5);
  p.all.push_back(stopped);
  p.together(download.at("step").get<std::uint64_t>() + 3);

  // What it did before it knew that it had been left is its own island.
  auto first = seen;
  while (stopped->log.lines()[first] != download)
    ++first;
  check_agree(*p.all.front(), *stopped, 5, first);
}
