#include "runtime/lines/line_estimator.hpp"

#include <algorithm>
#include <cstdlib>

#include <doctest/doctest.h>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr double MB = 1e6;

peer_id peer(int number) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(number);
  return x;
}

/// An upload as a token bucket that several pairs share fairly, and receivers
/// with limits of their own. Steps are 10 ms; looks at it come about every
/// 100 ms, as a busy machine's timer does.
struct simulated_line {
  double rate = 2 * MB;
  double burst = 0;  ///< Bytes that idle time saves up...
  double peak = 0;   ///< ...and the rate at which they go. 0: no burst.
  double jitter = 0; ///< Share by which 10 ms differ.
  double cross = 0;  ///< Share that others take, at times.
  std::map<int, double> limits{};
  duration round_trip = 20ms;

  double tokens = 0;
  double ramp = 0; ///< TCP's rate: doubles every round trip after a pause.
  bool crossing = false;
  random_stream chance{1};

  /// Sends to these peers for a while; nobody: idle.
  void run(line_estimator& to, duration how_long, std::vector<int> receivers) {
    constexpr auto step = 10ms;
    const double seconds = 0.01;
    std::map<int, double> bytes;
    duration since_look{0}, next_look = look();
    for (duration t{0}; t < how_long; t += step) {
      if (chance.uniform01() < 0.05)
        crossing = chance.uniform01() < 0.5;
      double now = rate * (crossing ? 1 - cross : 1);
      now *= 1 + jitter * (2 * chance.uniform01() - 1);
      if (receivers.empty()) {
        tokens = std::min(burst, tokens + now * seconds);
        ramp = 0;
      } else {
        ramp = std::min(100 * MB,
                        ramp == 0 ? 14600 / to_s(round_trip)
                                  : ramp * (1 + to_s(step) / to_s(round_trip)));
        double budget = std::min(now, ramp) * seconds;
        if (peak > 0 && tokens > 0) {
          auto extra = std::min(tokens, (peak - now) * seconds);
          budget = std::min(budget + extra, ramp * seconds);
          tokens -= extra;
        }
        share(budget, seconds, receivers, bytes);
      }
      since_look += step;
      if (since_look >= next_look) {
        std::vector<line_traffic> seen;
        for (auto x : receivers)
          seen.push_back({peer(x), static_cast<std::uint64_t>(bytes[x]), 0,
                          true, round_trip});
        to.observe(since_look, seen);
        bytes.clear();
        since_look = {};
        next_look = look();
      }
    }
  }

private:
  static double to_s(duration x) {
    return std::chrono::duration<double>(x).count();
  }
  duration look() {
    return 90ms + chance.below(3) * 10ms;
  }
  /// Fairly: what somebody cannot take goes to the others.
  void share(double budget, double seconds, std::vector<int> receivers,
             std::map<int, double>& bytes) {
    std::sort(receivers.begin(), receivers.end(),
              [this](int a, int b) { return limit(a) < limit(b); });
    auto left = static_cast<double>(receivers.size());
    for (auto x : receivers) {
      auto gets = std::min(budget / left--, limit(x) * seconds);
      bytes[x] += gets;
      budget -= gets;
    }
  }
  double limit(int x) const {
    auto i = limits.find(x);
    return i == limits.end() ? 1e12 : i->second;
  }
};

doctest::Approx about(double x, double part = 0.1) {
  return doctest::Approx(x).epsilon(part);
}

} // namespace

TEST_CASE("nothing is known of a line that nobody used") {
  line_estimator x;
  CHECK(x.upload() == 0);
  CHECK(x.download() == 0);
  x.observe(100ms, {{peer(1), 5000, 0, false, 0ms}});
  x.observe(0ms, {{peer(1), 5000, 0, true, 0ms}});
  CHECK(x.upload() == 0);
  CHECK(x.limit_to(peer(1)) == 0);
}

TEST_CASE("a transfer of a second shows the upload, of any number of peers") {
  for (auto rate : {0.1 * MB, 2 * MB, 100 * MB})
    for (const auto& to : {std::vector<int>{1}, {1, 2}, {1, 2, 3, 4, 5, 6}}) {
      CAPTURE(rate);
      line_estimator x;
      simulated_line line;
      line.rate = rate;
      line.run(x, 2s, to);
      CHECK(x.upload() == about(rate));
    }
}

TEST_CASE("traffic that never waits says nothing") {
  line_estimator x;
  simulated_line line;
  line.run(x, 2s, {1, 2});
  auto before = x.upload();
  for (int i = 0; i < 600; ++i)
    x.observe(100ms, {{peer(1), 1000, 500, false, 20ms},
                      {peer(2), 0, 0, false, 20ms}});
  CHECK(x.upload() == before);
}

TEST_CASE("bursts after idle time do not count as the line") {
  line_estimator x;
  simulated_line line;
  line.burst = 1 * MB;
  line.peak = 8 * MB;
  for (int i = 0; i < 10; ++i) {
    line.run(x, 3s, {});
    line.run(x, 2s, {1, 2, 3});
    CAPTURE(i);
    CHECK(x.upload() == about(line.rate, 0.15));
  }
}

TEST_CASE("jitter and cross-traffic leave the estimate near what we get") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    line_estimator x;
    simulated_line line;
    line.chance = random_stream{seed};
    line.jitter = 0.5;
    for (int i = 0; i < 5; ++i) {
      line.run(x, 1s, {1, 2, 3});
      line.run(x, 1s, {});
    }
    CHECK(x.upload() == about(line.rate));
    line.cross = 0.4;
    for (int i = 0; i < 5; ++i) {
      line.run(x, 1s, {1, 2, 3});
      line.run(x, 1s, {});
    }
    CHECK(x.upload() > 0.55 * line.rate);
    CHECK(x.upload() < 1.05 * line.rate);
  }
}

TEST_CASE("a halved upload shows within a step, a doubled one within two") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (auto trip : {5ms, 20ms, 60ms}) {
      CAPTURE(seed);
      CAPTURE(trip.count());
      line_estimator x;
      simulated_line line;
      line.chance = random_stream{seed};
      line.round_trip = trip;
      line.jitter = 0.3;
      auto step = [&] {
        line.run(x, 2s, {1, 2, 3});
        line.run(x, 2s, {});
      };
      for (int i = 0; i < 5; ++i)
        step();
      CHECK(x.upload() == about(2 * MB));
      line.rate = 1 * MB;
      step();
      CHECK(x.upload() == about(1 * MB));
      line.rate = 2 * MB;
      step();
      step();
      CHECK(x.upload() == about(2 * MB));
    }
}

TEST_CASE("a long round trip is not taken for a slow line") {
  line_estimator x;
  simulated_line line;
  line.round_trip = 600ms;
  for (int i = 0; i < 6; ++i) {
    line.run(x, 20s, {1, 2});
    line.run(x, 5s, {});
  }
  CHECK(x.upload() == about(line.rate));
}

TEST_CASE("a pair that is slower than the line is found, and leaves the line") {
  line_estimator x;
  simulated_line line;
  line.limits[3] = 0.25 * MB;
  line.run(x, 2s, {1, 2});
  line.run(x, 1s, {});
  line.run(x, 2s, {3});
  CHECK(x.upload() == about(line.rate));
  CHECK(x.limit_to(peer(3)) == about(0.25 * MB));
  CHECK(x.limit_to(peer(1)) == 0);
  // It mends.
  line.limits.clear();
  for (int i = 0; i < 2; ++i) {
    line.run(x, 1s, {});
    line.run(x, 2s, {3});
  }
  CHECK(x.limit_to(peer(3)) == 0);
}

TEST_CASE("one receiver that becomes slow is not our upload") {
  line_estimator x;
  simulated_line line;
  line.limits = {{1, 0.8 * MB}, {2, 1 * MB}};
  for (int i : {1, 2, 3, 1, 2, 3}) {
    line.run(x, 2s, {i});
    line.run(x, 1s, {});
  }
  REQUIRE(x.upload() == about(2 * MB));
  line.limits[2] = 0.1 * MB;
  for (int i = 0; i < 3; ++i) {
    line.run(x, 2s, {1, 2});
    line.run(x, 1s, {});
  }
  CHECK(x.upload() == about(2 * MB));
  CHECK(x.limit_to(peer(1)) == about(0.8 * MB));
  CHECK(x.limit_to(peer(2)) == about(0.1 * MB));
}

TEST_CASE("with one peer alone, what it gets is the upload") {
  line_estimator x;
  simulated_line line;
  line.run(x, 3s, {1});
  line.rate = 1 * MB;
  line.run(x, 1s, {});
  line.run(x, 3s, {1});
  CHECK(x.upload() == about(1 * MB));
}

TEST_CASE("plans hear of pairs that are slow for certain") {
  line_estimator x;
  simulated_line line;
  line.limits = {{3, 0.25 * MB}};
  line.run(x, 2s, {1, 2, 3});
  for (int i = 0; i < 6; ++i) {
    line.run(x, 1s, {1});
    line.run(x, 500ms, {});
    line.run(x, 1s, {3});
    line.run(x, 500ms, {});
  }
  CHECK(x.sure_limit_to(peer(3)) == about(0.25 * MB));
  CHECK(x.sure_limit_to(peer(1)) == 0);
  line.limits.clear();
  line.run(x, 3s, {3});
  CHECK(x.sure_limit_to(peer(3)) == 0);
}

TEST_CASE("a pair that gets what the others get is not slow for plans") {
  line_estimator x;
  simulated_line line;
  for (int i = 0; i < 6; ++i) {
    line.run(x, 2s, {1, 2, 3, 4, 5, 6});
    // The third one's downlink is busy with somebody else's parts.
    line.limits = {{3, 0.25 * MB}};
    line.run(x, 600ms, {3});
    line.limits.clear();
    line.run(x, 500ms, {});
  }
  CHECK(x.limit_to(peer(3)) != 0);
  CHECK(x.sure_limit_to(peer(3)) == 0);
}

TEST_CASE("a slower line is known after two rounds, however slow pairs seem") {
  line_estimator x;
  simulated_line line;
  line.rate = 5 * MB;
  line.run(x, 2s, {1, 2, 3, 4, 5, 6, 7});
  // Each one's downlink was busy when it alone was sent to.
  for (int to = 1; to <= 7; ++to) {
    line.limits = {{to, 0.15 * MB}};
    line.run(x, 600ms, {to});
    line.run(x, 1s, {});
  }
  line.limits.clear();
  line.rate = 1.1 * MB;
  for (int round = 0; round < 2; ++round) {
    line.run(x, 3s, {1, 2, 3, 4, 5, 6, 7});
    line.run(x, 1s, {});
  }
  CHECK(x.upload() == about(1.1 * MB));
  for (int to = 1; to <= 7; ++to)
    CHECK(x.sure_limit_to(peer(to)) == 0);
}

TEST_CASE("a pair that was slow once does not hide that the line became so") {
  line_estimator x;
  simulated_line line;
  line.rate = 2.4 * MB;
  line.run(x, 2s, {1, 2});
  line.limits = {{2, 0.35 * MB}};
  line.run(x, 1s, {2});
  line.run(x, 700ms, {});
  REQUIRE(x.limit_to(peer(2)) == doctest::Approx(0.35 * MB).epsilon(0.15));
  // It is as good as the other one, and so it is in round after round.
  line.limits.clear();
  for (int i = 0; i < 10; ++i) {
    line.run(x, 1s, {1, 2});
    line.run(x, 700ms, {});
  }
  REQUIRE(x.upload() == doctest::Approx(2.4 * MB).epsilon(0.1));
  line.rate = 0.6 * MB;
  line.run(x, 1500ms, {1, 2});
  CHECK(x.upload() == doctest::Approx(0.6 * MB).epsilon(0.1));
}

TEST_CASE("rounds that end with slow receivers leave the upload what it is") {
  line_estimator x;
  simulated_line line;
  line.run(x, 2s, {1, 2, 3, 4, 5});
  for (int to = 1; to <= 4; ++to) {
    line.limits = {{to, 0.1 * MB}};
    line.run(x, 600ms, {to});
    line.run(x, 1s, {});
  }
  for (int round = 0; round < 6; ++round) {
    line.limits.clear();
    line.run(x, 1s, {1, 2, 3, 4, 5});
    for (int to = 1; to <= 4; ++to)
      line.limits[to] = 0.1 * MB;
    line.run(x, 3s, {1, 2, 3, 4});
    line.run(x, 1s, {});
    CAPTURE(round);
    CHECK(x.upload() == about(2 * MB));
  }
}

TEST_CASE("machines that stand still make no pair slow for plans") {
  // Whatever passes, for a third of the time it is next to nothing: of one
  // pair, or of all. What a pair carries shows in between.
  std::size_t limited = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    line_estimator x;
    simulated_line line;
    line.chance = random_stream{seed};
    random_stream chance{seed + 100};
    line.run(x, 2s, {1, 2, 3});
    for (int i = 0; i < 60; ++i) {
      line.limits.clear();
      if (chance.uniform01() < 0.33)
        line.limits[1 + static_cast<int>(chance.below(3))] = 0.02 * MB;
      line.rate = chance.uniform01() < 0.2 ? 0.2 * MB : 2 * MB;
      line.run(x, 300ms, {1, 2, 3});
      if (chance.uniform01() < 0.3)
        line.run(x, 300ms, {1 + static_cast<int>(chance.below(3))});
    }
    for (int to : {1, 2, 3}) {
      CHECK(x.sure_limit_to(peer(to)) == 0);
      limited += x.limit_to(peer(to)) > 0;
    }
  }
  CHECK(limited > 20); // Else nothing was in doubt.
}

TEST_CASE("an upload measured over a slow pair is forgotten once several are "
          "served") {
  line_estimator x;
  simulated_line line;
  line.limits = {{1, 0.25 * MB}};
  line.run(x, 2s, {1});
  CHECK(x.upload() == about(0.25 * MB)); // Who knows.
  line.run(x, 500ms, {});
  line.run(x, 2s, {1, 2, 3});
  CHECK(x.upload() == about(2 * MB));
  line.run(x, 3s, {1});
  CHECK(x.upload() == about(2 * MB));
  CHECK(x.limit_to(peer(1)) == about(0.25 * MB));
}

TEST_CASE("whoever has left is forgotten") {
  line_estimator x;
  simulated_line line;
  line.limits[2] = 0.2 * MB;
  line.run(x, 3s, {1});
  line.run(x, 1s, {});
  line.run(x, 3s, {2});
  REQUIRE(x.limit_to(peer(2)) > 0);
  x.forget(peer(2));
  CHECK(x.limit_to(peer(2)) == 0);
  x.forget(peer(9));
}

TEST_CASE("the download is the best that was sustained") {
  line_estimator x;
  auto receive = [&x](double rate, int intervals) {
    for (int i = 0; i < intervals; ++i)
      x.observe(
          100ms,
          {{peer(1), 0, static_cast<std::uint64_t>(rate / 20), false, 20ms},
           {peer(2), 0, static_cast<std::uint64_t>(rate / 20), false, 20ms}});
    for (int i = 0; i < 10; ++i)
      x.observe(100ms, {{peer(1), 100, 100, false, 20ms}});
  };
  receive(5 * MB, 20);
  CHECK(x.download() == about(5 * MB));
  // Others had less to send.
  for (int i = 0; i < 4; ++i)
    receive(1 * MB, 20);
  CHECK(x.download() == about(5 * MB));
  receive(5 * MB, 20);
  for (int i = 0; i < 4; ++i)
    receive(1 * MB, 20);
  CHECK(x.download() == about(5 * MB));
  // Again and again: the line is slower.
  receive(1 * MB, 20);
  CHECK(x.download() == about(1 * MB));
  receive(8 * MB, 20);
  CHECK(x.download() == about(8 * MB));
}
