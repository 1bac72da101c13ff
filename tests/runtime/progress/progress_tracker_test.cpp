#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include "runtime/progress/progress_tracker.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

const time_point start{1000s};

peer_id peer(std::size_t i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  x.bytes[1] = static_cast<std::uint8_t>(i >> 8);
  return x;
}

digest state_number(std::uint8_t i) {
  digest x;
  x.bytes[0] = i;
  return x;
}

progress_report report(std::size_t i, std::uint64_t samples, double speed) {
  progress_report x;
  x.id = peer(i);
  x.phase = phase::accumulating;
  x.step = 3;
  x.history_samples = 300;
  x.state = state_number(7);
  x.samples = samples;
  x.samples_per_second = speed;
  return x;
}

progress_tracker tracker(std::uint64_t target = 100) {
  progress_tracker result{target, peer(0), 10s};
  result.update_self(report(0, 10, 2), start);
  return result;
}

} // namespace

TEST_CASE("the samples of companions add up, those of leavers do not") {
  auto x = tracker();
  x.hear(report(1, 20, 3), start);
  x.hear(report(2, 30, 5), start + 1s);
  x.hear(report(0, 999, 9), start); // Its own report, come back.
  CHECK(x.total_samples(start + 2s) == 60);
  CHECK(x.samples_per_second(start + 2s) == doctest::Approx(10));
  CHECK(x.estimated_samples(start + 2s) == doctest::Approx(60 + 6 + 5));
  CHECK(*x.time_to_target(start + 2s) == 2900ms);
  CHECK(x.my_quota(start + 2s) == 6); // 29 missing, a fifth of the speed.
  CHECK(x.total_samples(start + 10500ms) == 40); // The first one is silent.
  x.forget(peer(2));
  CHECK(x.total_samples(start + 2s) == 30);
  x.hear(report(1, 90, 3), start + 3s);
  x.hear(report(1, 5, 3), start + 2s); // Overtaken on its way.
  CHECK(x.target_reached(start + 3s));
  CHECK(*x.time_to_target(start + 3s) == 0s);
  CHECK(x.my_quota(start + 3s) == 1);
}

TEST_CASE("who says the same again has computed on since it said so first") {
  auto x = tracker();
  x.hear(report(1, 20, 3), start);
  x.hear(report(1, 20, 3), start + 2s);
  CHECK(x.estimated_samples(start + 3s) == doctest::Approx(10 + 20 + 9));
  CHECK(x.total_samples(start + 11s) == 30); // It is not silent.
  x.hear(report(1, 27, 3), start + 3s);
  CHECK(x.estimated_samples(start + 3s) == doctest::Approx(10 + 27));
  // Not for ever: it stands still.
  for (auto later = 4s; later < 60s; ++later)
    x.hear(report(1, 27, 3), start + later);
  CHECK(x.estimated_samples(start + 60s) == doctest::Approx(10 + 27 + 30));
  x.hear(report(1, 0, 3), start + 60s); // It begins anew.
  CHECK(x.estimated_samples(start + 60s) == doctest::Approx(10));
}

TEST_CASE("only peers of the same step, state and run that can average are "
          "companions") {
  auto x = tracker();
  auto other = report(1, 20, 3);
  std::size_t expected = 0;
  SUBCASE("like this one") {
    expected = 1;
  }
  SUBCASE("another step") {
    other.step = 4;
  }
  SUBCASE("another state") {
    other.state = state_number(8);
  }
  SUBCASE("an auxiliary") {
    other.role = role::auxiliary;
  }
  SUBCASE("an auxiliary that cannot average yet") {
    other.role = role::auxiliary;
    other.phase = phase::joining;
  }
  SUBCASE("a joiner") {
    other.phase = phase::joining;
  }
  SUBCASE("another run") {
    auto self = report(0, 10, 2);
    self.charter = state_number(1);
    other.charter = state_number(2);
    x.update_self(self, start);
  }
  x.hear(other, start);
  CHECK(x.companions(start).size() == expected);
  CHECK(x.total_samples(start) == 10 + 20 * expected);
  CHECK(x.auxiliaries(start).size()
        == (other.role == role::auxiliary && other.phase != phase::joining));
}

TEST_CASE("a claim of 2^40 samples fills no batch") {
  constexpr std::uint64_t lie = std::uint64_t{1} << 40;
  progress_tracker x{1000000, peer(0), 10s};
  x.update_self(report(0, 20, 2), start);
  for (std::size_t i = 1; i < 7; ++i)
    x.hear(report(i, 20, 2), start + 10s);
  auto honest = x.total_samples(start + 10s);
  x.hear(report(7, lie, 1e9), start + 10s);
  // In the run's first contract it counts for 16 of them.
  CHECK(x.total_samples(start + 10s) == honest + 16 * 20);
  CHECK_FALSE(x.target_reached(start + 10s));
  // More of it would not count, so it has the others compute no less.
  CHECK(x.samples_per_second(start + 10s) == doctest::Approx(14));
  CHECK(x.estimated_samples(start + 11s) < 500);
}

TEST_CASE("a newcomer does not know when the others' step began") {
  progress_tracker x{64, peer(0), 10s};
  x.update_self(report(0, 0, 0), start);
  x.hear(report(1, 15000, 2500), start);
  const auto then = start + 5ms;
  CHECK(x.believable_samples(then) < 7500); // It was there all the time.
  x.forget_steps();
  CHECK(x.believable_samples(then) >= 15000);
  CHECK(x.believable_samples(then) < std::uint64_t{1} << 30);
}

TEST_CASE("what would not count in a contract fills no batch, this peer's own "
          "samples neither") {
  constexpr std::uint64_t lie = std::uint64_t{1} << 40;
  const auto filled = [](std::uint64_t own, std::uint64_t other, bool made) {
    progress_tracker x{200, peer(0), 10s};
    x.update_self(report(0, own, 2), start);
    group_contract last;
    for (std::size_t i = 0; i < 4; ++i) {
      group_member m;
      m.who.id = peer(i);
      m.samples = i < 3 ? 40 : 0;
      last.members.push_back(m);
    }
    x.formed(start + 10s);
    if (made)
      x.made(last, {});
    else
      x.forget_steps();
    x.hear(report(1, 40, 2), start + 99s);
    x.hear(report(2, 40, 2), start + 99s);
    x.hear(report(3, other, 1e9), start + 99s);
    return x.total_samples(start + 100s);
  };
  CHECK(filled(40, 40, true) == 160);
  CHECK(filled(40, lie, true) == 240);
  CHECK(filled(lie, 40, true) == 240);
  // It has nothing to show to those that it took the history from.
  CHECK(filled(40, lie, false) > 10000);
  CHECK(filled(lie, 40, false) == 240);
}

TEST_CASE("impossible speeds count as none") {
  for (double speed : {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity(), -5.0}) {
    auto x = tracker();
    x.hear(report(1, 20, speed), start);
    CHECK(x.samples_per_second(start) == doctest::Approx(2));
    CHECK(x.estimated_samples(start + 1s) == doctest::Approx(30));
    x.update_self(report(0, 10, speed), start);
    CHECK_FALSE(x.time_to_target(start).has_value());
    CHECK(x.my_quota(start) == 1);
  }
  constexpr auto endless = std::numeric_limits<std::uint64_t>::max();
  auto x = tracker(endless);
  x.update_self(report(0, endless - 5, 2), start);
  x.hear(report(1, endless, 1), start);
  CHECK(x.target_reached(start)); // The sum does not overflow.
  auto slow = tracker();
  slow.update_self(report(0, 0, 1e-12), start);
  CHECK(*slow.time_to_target(start) == progress_tracker::longest_estimate);
  CHECK(slow.my_quota(start) == 100);
}

TEST_CASE("those that average have states to give, wherever they are") {
  auto x = tracker();
  for (std::size_t i = 1; i <= 5; ++i) {
    auto other = report(i, 0, 1);
    other.step += i;
    other.role = i == 1 ? role::auxiliary : role::trainer;
    other.contributes = i == 2;
    other.phase = i == 3   ? phase::joining
                  : i == 4 ? phase::finished
                           : phase::accumulating;
    x.hear(other, start);
  }
  auto all = x.averaging(start);
  REQUIRE(all.size() == 2);
  CHECK(all[0]->id == peer(4));
  CHECK(all[1]->id == peer(5));
  CHECK(x.averaging(start + 11s).empty());
}

TEST_CASE("quotas of peers that know the same overshoot by one sample each") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::size_t n = 1 + random() % 16;
    std::uint64_t target = 1 + random() % 5000;
    std::vector<progress_report> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(
          report(i, random() % 100, 0.5 + static_cast<double>(random() % 50)));
    std::uint64_t have = 0;
    std::uint64_t quotas = 0;
    for (std::size_t i = 0; i < n; ++i) {
      progress_tracker x{target, peer(i), 10s};
      x.update_self(all[i], start);
      for (const auto& r : all)
        x.hear(r, start);
      have += all[i].samples;
      quotas += x.my_quota(start);
    }
    CHECK(have + quotas >= target);
    CHECK(have + quotas <= std::max(have, target) + n);
  }
}

TEST_CASE("the number of peers remembered is limited") {
  auto x = tracker();
  for (std::size_t i = 1; i <= progress_tracker::most_peers + 5; ++i) {
    auto r = report(0, 1, 1);
    r.id.bytes[2] = static_cast<std::uint8_t>(i);
    r.id.bytes[3] = static_cast<std::uint8_t>(i >> 8);
    x.hear(r, start + std::chrono::milliseconds{i});
  }
  auto fresh = x.fresh(start + 5s);
  CHECK(fresh.size() == progress_tracker::most_peers);
  CHECK(std::none_of(fresh.begin(), fresh.end(), [](const auto& r) {
    return r.id.bytes[2] == 1 && r.id.bytes[3] == 0;
  }));
  CHECK_THROWS_AS((progress_tracker{0, peer(0), 1s}), std::invalid_argument);
}
