#include "runtime/membership/silence_detector.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("a new connection is given the whole cap") {
  silence_detector line{time_point{5s}};
  CHECK(line.patience() == 20s);
  CHECK_FALSE(line.suspicious(time_point{25s - 1ns}));
  CHECK(line.suspicious(time_point{25s}));
}

TEST_CASE("a steady peer is suspected after the floor, until it is heard") {
  silence_detector line{time_point{}};
  time_point now{};
  for (int i = 0; i < 10; ++i)
    line.heard(now += 1s);
  CHECK(line.deadline() == now + 3s);
  CHECK_FALSE(line.suspicious(now + 3s - 1ns));
  CHECK(line.suspicious(now + 3s));
  line.heard(now + 4s);
  CHECK_FALSE(line.suspicious(now + 4s));
  CHECK(line.last_heard() == now + 4s);
}

TEST_CASE("parts of frames put suspicion off and teach no patience") {
  silence_detector line{time_point{}};
  time_point now{};
  for (int i = 0; i < 10; ++i)
    line.heard(now += 1s);
  auto whole = now;
  for (int i = 0; i < 100; ++i)
    line.stirred(now += 100ms);
  CHECK_FALSE(line.suspicious(now + 3s - 1ns));
  CHECK(line.suspicious(now + 3s));
  CHECK(line.patience() == 3s);
  CHECK(line.last_heard() == whole); // Heartbeats go on.
}

TEST_CASE("who acknowledges what we send is given time, up to the cap") {
  silence_detector line{time_point{}};
  time_point now{};
  for (int i = 0; i < 10; ++i)
    line.heard(now += 1s);
  auto said = now;
  for (int i = 0; i < 100; ++i)
    line.acknowledged(now += 100ms);
  CHECK_FALSE(line.suspicious(now + 3s - 1ns));
  CHECK(line.suspicious(now + 3s));
  for (int i = 0; i < 100; ++i)
    line.acknowledged(now += 100ms);
  CHECK_FALSE(line.suspicious(said + 20s - 1ns));
  CHECK(line.suspicious(said + 20s));
  CHECK(line.patience() == 3s);
}

TEST_CASE("an unsteady peer is given longer, but never more than the cap") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    silence_detector line{time_point{}};
    time_point now{};
    for (int i = 0; i < 100; ++i)
      line.heard(now += std::chrono::milliseconds(500 + random.below(2000)));
    CHECK(line.patience() > 4s);
    CHECK(line.patience() <= 20s);
  }
}

TEST_CASE("a steady peer with jitter below a fifth is never suspected") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    silence_detector line{time_point{}};
    time_point now{};
    for (int i = 0; i < 1000; ++i) {
      now += std::chrono::milliseconds(900 + random.below(200));
      REQUIRE_FALSE(line.suspicious(now));
      line.heard(now);
    }
  }
}

TEST_CASE("a burst of frames does not make the following silence suspicious") {
  silence_detector line{time_point{}};
  time_point now{};
  for (int i = 0; i < 20; ++i)
    line.heard(now += 6s);
  CHECK(line.patience() == 6s);
  for (int i = 0; i < 1000; ++i)
    line.heard(now += 1ms);
  CHECK(line.patience() == 6s);
}

TEST_CASE("a line with long round trips is given time for an answer") {
  silence_detector line{time_point{}};
  time_point now{};
  for (int i = 0; i < 10; ++i) {
    line.heard(now += 1s);
    line.round_trip(4s);
  }
  CHECK(line.patience() == 9s); // One of the answer's packets may be lost.
  for (int i = 0; i < 64; ++i)
    line.round_trip(1min);
  CHECK(line.patience() == 20s);
}

TEST_CASE("a busy peer that answers is suspected after the floor") {
  silence_detector line{time_point{}};
  time_point now{};
  for (int i = 0; i < 1000; ++i)
    line.heard(now += 1ms);
  CHECK(line.patience() == 20s);
  for (int i = 0; i < 4; ++i)
    line.round_trip(1ms);
  CHECK(line.patience() == 3s);
}

TEST_CASE("time that stands still or runs backwards adds no gap") {
  silence_detector line{time_point{10s}};
  line.heard(time_point{10s});
  line.heard(time_point{5s});
  CHECK(line.last_heard() == time_point{10s});
  CHECK(line.patience() == 20s);
}

TEST_CASE("settings that contradict each other are refused") {
  CHECK_THROWS_AS(silence_detector(time_point{}, {0s, 1s, 2s}),
                  std::invalid_argument);
  CHECK_THROWS_AS(silence_detector(time_point{}, {2s, 1s, 2s}),
                  std::invalid_argument);
  CHECK_THROWS_AS(silence_detector(time_point{}, {1s, 3s, 2s}),
                  std::invalid_argument);
}
