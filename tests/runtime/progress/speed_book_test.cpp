#include <doctest/doctest.h>

#include <limits>

#include "runtime/progress/speed_book.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t batch = 1000;
constexpr std::uint64_t lie = std::uint64_t{1} << 40;

progress_report trainer(std::uint64_t samples, double speed) {
  progress_report x;
  x.samples = samples;
  x.samples_per_second = speed;
  return x;
}

/// This peer and seven more, of the same speed, after `elapsed`.
speed_book eight(double speed, duration elapsed) {
  const auto samples
      = static_cast<std::uint64_t>(speed * elapsed.count() / 1e9);
  speed_book x{batch, trainer(samples, speed), elapsed};
  for (int i = 0; i < 7; ++i)
    x.add(trainer(samples, speed), true);
  return x;
}

} // namespace

TEST_CASE("nobody is believed more than 256 times what the others can do") {
  auto x = eight(2, 10s);
  CHECK(x.most_speed() == doctest::Approx(512));
  CHECK(x.most_samples() == 5120);
  SUBCASE("whatever it says of its speed") {
    x.add(trainer(lie, 1e300), true);
    x.add(trainer(lie, std::numeric_limits<double>::infinity()), true);
  }
  SUBCASE("nor do three of eleven raise or lower that") {
    for (int i = 0; i < 3; ++i)
      x.add(trainer(lie, 1e9), true);
  }
  SUBCASE("nor those who say little") {
    for (int i = 0; i < 7; ++i)
      x.add(trainer(0, 1e-9), true);
  }
  CHECK(x.most_speed() == doctest::Approx(512));
  CHECK(x.most_samples() == 5120);
}

TEST_CASE("a GPU beside laptops is believed, whoever looks") {
  const auto laptop = trainer(5, 0.5);
  const auto gpu = trainer(1000, 100);
  for (auto& own : {laptop, gpu}) {
    speed_book x{batch, own, 10s};
    if (own.samples == gpu.samples)
      x.add(laptop, true);
    else
      x.add(gpu, true);
    for (int i = 0; i < 4; ++i)
      x.add(laptop, true);
    CHECK(x.most_samples() >= gpu.samples);
    CHECK(x.most_speed() >= gpu.samples_per_second);
  }
}

TEST_CASE("of two, each trusts its own measurements") {
  speed_book laptop{batch, trainer(5, 0.5), 10s};
  laptop.add(trainer(lie, 1e9), true);
  CHECK(laptop.most_speed() == doctest::Approx(128));
  CHECK(laptop.most_samples() == 1280);
  // Who claims to be slow cannot have the other one cut.
  speed_book gpu{batch, trainer(1000, 100), 10s};
  gpu.add(trainer(0, 1e-9), true);
  CHECK(gpu.most_samples() >= 256000);
}

TEST_CASE("who joins in the middle of a step believes what the others have") {
  speed_book x{batch, trainer(0, 0), 1ms};
  for (int i = 0; i < 4; ++i)
    x.add(trainer(200, 1), true);
  CHECK(x.most_samples() == 51200);
}

TEST_CASE("a step that has just begun has room for the first batches") {
  CHECK(eight(2, 0s).most_samples() == batch / 8);
  speed_book tiny{1, trainer(0, 1), 0s};
  CHECK(tiny.most_samples() == 1);
}

TEST_CASE("before any speed is known, one may have the target batch") {
  speed_book x{batch, trainer(0, 0), 5s};
  x.add(trainer(64, 0), true);
  CHECK(x.most_samples() == batch);
}

TEST_CASE("an auxiliary goes by what it hears") {
  auto own = trainer(0, 0);
  own.role = role::auxiliary;
  speed_book x{batch, own, 10s};
  for (int i = 0; i < 3; ++i)
    x.add(trainer(20, 2), true);
  x.add(trainer(lie, 1e9), true);
  CHECK(x.most_samples() == 5120);
}

TEST_CASE("a member that brings the target batch does not lie") {
  // It computed on while a group came to nothing.
  CHECK(eight(2, 0s).believable_samples() == 2 * batch);
  CHECK(eight(2, 10s).believable_samples() == 2 * 5120);
  speed_book endless{std::numeric_limits<std::uint64_t>::max(), trainer(1, 1),
                     1s};
  CHECK(endless.believable_samples()
        == std::numeric_limits<std::uint64_t>::max());
}
