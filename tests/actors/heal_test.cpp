/// A peer is lost at every moment of a round; the others' round goes on.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t target = 128;
constexpr std::uint8_t size = 4;
/// One way. A round is parts, means, reports and verdicts: four of them.
constexpr auto line = 50ms;

/// Four peers on slow lines; one of them is cut off from the others.
struct accident {
  accident(std::uint64_t reserve, std::size_t victim, duration moment) {
    for (std::uint8_t i = 1; i <= size; ++i) {
      for (std::uint8_t j = 1; j < i; ++j)
        world.network.delay(host(i), host(j), line);
      auto c = tiny_peer(world.network, i,
                         i == 1 ? std::vector<std::uint8_t>{}
                                : std::vector<std::uint8_t>{1},
                         1000);
      c.propose = [reserve] {
        auto settings = tiny_charter(1000, target).settings();
        settings.reserve = reserve;
        return charter{settings, ""};
      };
      // Slow enough that joiners catch up with the first.
      c.batch_time
          = [](std::uint32_t samples) { return samples * duration{12ms}; };
      peers.push_back(std::make_unique<whole_peer>(world, std::move(c)));
    }
    for (std::size_t i = 0; i < size; ++i)
      if (i != victim)
        survivors.push_back(i);
    auto all_together = [&] {
      return std::all_of(peers.begin(), peers.end(), [](auto& x) {
        auto steps = x->observer->events("step");
        return steps.size() >= 8
               && field<std::uint64_t>(steps.back(), "peers") == size;
      });
    };
    REQUIRE(world.run_until(all_together, 120s));
    // The moment counts from when the leader has formed the next group.
    auto plans = peers[0]->observer->events("plan").size();
    REQUIRE(world.run_until(
        [&] { return peers[0]->observer->events("plan").size() > plans; },
        60s));
    step = field<std::uint64_t>(peers[0]->observer->events("plan").back(),
                                "step");
    world.run_for(moment);
    for (auto i : survivors)
      world.network.cut(host(static_cast<std::uint8_t>(victim + 1)),
                        host(static_cast<std::uint8_t>(i + 1)));
  }

  std::vector<event> of_step(std::size_t i, const std::string& name) const {
    auto result = peers[i]->observer->events(name);
    result.erase(std::remove_if(result.begin(), result.end(),
                                [&](auto& x) {
                                  return field<std::uint64_t>(x, "step")
                                         != step;
                                }),
                 result.end());
    return result;
  }

  /// Until the survivors have completed the step, and one more together.
  bool goes_on() {
    return world.run_until(
        [&] {
          return std::all_of(survivors.begin(), survivors.end(),
                             [&](auto i) { return peers[i]->step() > step; });
        },
        60s);
  }

  /// Of rounds in which nobody was lost, in seconds.
  double median_round(std::size_t i) const {
    std::vector<double> all;
    for (auto& x : peers[i]->observer->events("round"))
      if (field<std::uint64_t>(x, "step") < step
          && field<std::uint64_t>(x, "members") == size)
        all.push_back(field<double>(x, "seconds"));
    REQUIRE(all.size() >= 4);
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    return all[all.size() / 2];
  }

  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
  std::vector<std::size_t> survivors;
  std::uint64_t step = 0;
};

} // namespace

TEST_CASE(
    "with a reserve, a peer lost at any moment of a round costs less than "
    "one and a half rounds") {
  int healed = 0;
  double worst = 0;
  for (std::size_t victim : {0, 2})
    for (int moment = 0; moment < 20; ++moment) {
      CAPTURE(victim);
      CAPTURE(moment);
      accident x{48, victim, moment * 15ms};
      REQUIRE(x.goes_on());
      std::string digest;
      std::uint64_t samples = 0;
      for (auto i : x.survivors) {
        auto rounds = x.of_step(i, "round");
        REQUIRE(rounds.size() == 1);
        CHECK(field<std::string>(rounds[0], "outcome") == "committed");
        auto median = x.median_round(i);
        auto cost = field<double>(rounds[0], "seconds") - median;
        CHECK(cost < 1.5 * median);
        worst = std::max(worst, cost / median);
        auto steps = x.of_step(i, "step");
        REQUIRE(steps.size() == 1);
        auto& told = steps[0];
        if (digest.empty()) {
          digest = field<std::string>(told, "digest");
          samples = field<std::uint64_t>(told, "samples");
          healed += field<bool>(told, "healed");
        }
        CHECK(field<std::string>(told, "digest") == digest);
        CHECK(field<std::uint64_t>(told, "samples") == samples);
        CHECK(samples >= target);
        CHECK(field<std::uint64_t>(told, "peers")
                  + field<std::uint64_t>(told, "left_out")
              == field<std::uint64_t>(rounds[0], "members"));
      }
    }
  CHECK(healed >= 10);
  MESSAGE("healed ", healed, " of 40, costs at most ", worst,
          " of a median round");
}

TEST_CASE("without a reserve, a round that lost a peer is dropped by all and "
          "made up for") {
  int dropped = 0;
  for (std::size_t victim : {0, 2})
    for (int moment = 0; moment < 20; moment += 2) {
      CAPTURE(victim);
      CAPTURE(moment);
      accident x{0, victim, moment * 15ms};
      REQUIRE(x.goes_on());
      std::string digest;
      std::string outcome;
      for (auto i : x.survivors) {
        auto rounds = x.of_step(i, "round");
        REQUIRE_FALSE(rounds.empty());
        auto first = field<std::string>(rounds[0], "outcome");
        CHECK((outcome.empty() || outcome == first));
        outcome = first;
        auto steps = x.of_step(i, "step");
        REQUIRE(steps.size() == 1);
        auto now = field<std::string>(steps[0], "digest");
        CHECK((digest.empty() || digest == now));
        digest = now;
        CHECK(field<std::uint64_t>(steps[0], "samples") >= target);
      }
      dropped += outcome == "aborted";
    }
  CHECK(dropped >= 4);
}
