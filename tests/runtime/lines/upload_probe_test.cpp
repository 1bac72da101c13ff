#include "runtime/lines/upload_probe.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "runtime/lines/line_estimator.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr double megabit = 125e3; ///< Bytes per second.

/// A probe over an idle line on which TCP doubles its speed every round trip.
struct probed_line {
  double rate;
  duration round_trip;

  double sent = 0;    ///< Bytes that the probe asked for.
  double known = 0;   ///< What the estimator then says of the upload.
  double longest = 0; ///< Seconds that anything waited behind the probe.
  duration lasted{0};

  void run() {
    constexpr auto step = 10ms;
    constexpr int steps_a_look = 10;
    const auto seconds = std::chrono::duration<double>(round_trip).count();
    peer_id other;
    other.bytes[0] = 2;
    upload_probe probe;
    line_estimator estimator;
    double queue = sent = static_cast<double>(probe.begin());
    double speed = 14600 / seconds;
    while (!probe.over() || queue > 0) {
      double passed = 0;
      bool waiting = true;
      for (int i = 0; i < steps_a_look; ++i) {
        auto now = std::min({queue, std::min(rate, speed) * 0.01});
        queue -= now;
        passed += now;
        waiting = waiting && queue > 0;
        speed = std::min(100 * rate, speed * (1 + 0.01 / seconds));
        lasted += step;
      }
      estimator.observe(steps_a_look * step,
                        {{other, static_cast<std::uint64_t>(passed), 0, waiting,
                          round_trip}});
      if (estimator.sure_of_upload())
        probe.stop();
      auto more = static_cast<double>(probe.observed(
          steps_a_look * step, static_cast<std::uint64_t>(passed)));
      queue += more;
      sent += more;
      longest = std::max(longest, queue / rate);
      known = estimator.upload();
    }
  }
};

} // namespace

TEST_CASE("household uplinks are known after a moment") {
  for (double rate : {0.25, 1.0, 5.0, 10.0, 20.0})
    for (auto round_trip : {10ms, 40ms, 80ms}) {
      CAPTURE(rate);
      CAPTURE(round_trip.count());
      probed_line x{rate * megabit, round_trip};
      x.run();
      CHECK(x.known == doctest::Approx(rate * megabit).epsilon(0.1));
      CHECK(x.sent <= upload_probe::budget);
      CHECK(x.lasted <= upload_probe::longest + 2s);
      // Nothing that the peer really has to say waits for long.
      CHECK(x.longest
            <= std::max(0.5, 2.0 * upload_probe::first_burst / x.rate));
    }
}

TEST_CASE("on a thin line a probe ends after its time, having sent little") {
  probed_line x{64e3 / 8, 100ms};
  x.run();
  CHECK(x.known == doctest::Approx(64e3 / 8).epsilon(0.1));
  CHECK(x.sent <= 3 * upload_probe::first_burst);
}

TEST_CASE(
    "a fast line carries a bounded number of bytes, and is left to rounds") {
  for (double rate : {200.0, 10000.0}) {
    probed_line x{rate * megabit, 5ms};
    x.run();
    CHECK(x.sent <= upload_probe::budget);
    CHECK(x.lasted <= upload_probe::longest + 200ms);
  }
}

TEST_CASE("a probe that was stopped sends nothing more") {
  upload_probe x;
  CHECK(x.begin() == upload_probe::first_burst);
  CHECK(x.observed(100ms, 10'000) > 0);
  x.stop();
  CHECK(x.over());
  CHECK(x.observed(100ms, 10'000) == 0);
}
