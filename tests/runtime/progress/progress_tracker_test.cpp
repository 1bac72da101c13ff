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
  CHECK(x.auxiliaries(start).size() == (other.role == role::auxiliary));
}

TEST_CASE("a claim of 2^40 samples fills no batch") {
  constexpr std::uint64_t lie = std::uint64_t{1} << 40;
  progress_tracker x{1000000, peer(0), 10s};
  x.update_self(report(0, 20, 2), start);
  for (std::size_t i = 1; i < 7; ++i)
    x.hear(report(i, 20, 2), start + 10s);
  auto honest = x.total_samples(start + 10s);
  x.hear(report(7, lie, 1e9), start + 10s);
  // What an eighth of the batch is, since 256 times the others' is less.
  CHECK(x.total_samples(start + 10s) == honest + 125000);
  CHECK_FALSE(x.target_reached(start + 10s));
  // It has the others compute no less than their part beside 256 of them.
  CHECK(x.samples_per_second(start + 10s) == doctest::Approx(14 + 512));
  CHECK(x.my_quota(start + 10s) > 3000);
  CHECK(x.estimated_samples(start + 11s) < 127000);
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

TEST_CASE("the peers ahead hold the best history, and all the same state") {
  auto x = tracker();
  auto ids = [&] {
    std::vector<peer_id> result;
    for (const auto& r : x.ahead(start))
      result.push_back(r.id);
    return result;
  };
  using list = std::vector<peer_id>;
  x.hear(report(1, 0, 1), start);
  CHECK(ids() == list{}); // The same state is not better.
  auto other = report(2, 0, 1);
  other.state = state_number(8);
  x.hear(other, start);
  CHECK(ids() == list{}); // Equal history, greater digest.
  other.state = state_number(6);
  x.hear(other, start);
  CHECK(ids() == list{}); // Smaller, but two hold ours.
  other.id = peer(7);
  x.hear(other, start);
  CHECK(ids() == list{peer(2), peer(7)}); // As many: the digest decides.
  other.state = state_number(8);
  other.id = peer(2);
  x.hear(other, start);
  other.id = peer(7);
  x.hear(other, start);
  CHECK(ids() == list{});
  other.id = peer(8);
  x.hear(other, start);
  CHECK(ids() == list{peer(2), peer(7), peer(8)}); // Three against two.
  other = report(3, 0, 1);
  other.history_samples = 301;
  other.state = state_number(9);
  x.hear(other, start);
  CHECK(ids() == list{peer(3)});
  other.id = peer(4);
  x.hear(other, start);
  CHECK(ids() == list{peer(3), peer(4)});
  other.id = peer(5);
  other.history_samples = 999;
  other.phase = phase::joining;
  x.hear(other, start);
  other.id = peer(6);
  other.phase = phase::waiting;
  other.role = role::auxiliary;
  x.hear(other, start);
  CHECK(ids() == list{peer(3), peer(4)}); // Neither of them has a state.
  CHECK(x.ahead(start + 11s).empty());
}

TEST_CASE("who is behind believes more than half of the longest histories") {
  auto x = tracker();
  for (std::uint8_t i = 1; i <= 3; ++i) {
    auto r = report(i, 0, 1);
    r.history_samples += 100;
    ++r.step;
    r.state = state_number(i == 1 ? 1 : 9); // The lone one is the smaller.
    x.hear(r, start);
    if (i == 2) // A draw: the order decides.
      CHECK(x.ahead(start).front().id == peer(1));
  }
  auto donors = x.ahead(start);
  REQUIRE(donors.size() == 2);
  CHECK(donors[0].state == state_number(9));
  CHECK(donors[1].state == state_number(9));
}

TEST_CASE(
    "a longer history that hardly anybody holds is not followed at once") {
  auto x = tracker();
  for (std::uint8_t i = 1; i <= 4; ++i)
    x.hear(report(i, 0, 1), start);
  auto lone = report(9, 0, 1);
  lone.history_samples += 1000;
  lone.state = state_number(1);
  auto hear_again = [&](time_point now) {
    for (std::uint8_t i = 1; i <= 4; ++i)
      x.hear(report(i, 0, 1), now);
    x.hear(lone, now);
    return x.ahead(now).size();
  };
  CHECK(hear_again(start) == 0);
  CHECK(hear_again(start + limits::minority_patience - 1s) == 0);
  CHECK(hear_again(start + limits::minority_patience) == 1);
  x.forget(peer(4)); // Four that hold ours, against one, are not enough.
  CHECK(x.ahead(start + limits::minority_patience + 1s).size() == 1);
}

TEST_CASE("a lone longer history finds no followers while a step passes") {
  // Some are a step behind, some a step ahead, and one claims a thousand.
  for (std::uint8_t behind = 0; behind <= 8; ++behind) {
    CAPTURE(behind);
    auto x = tracker();
    auto own = report(0, 10, 2);
    own.step += 1;
    own.history_samples += 100;
    own.state = state_number(20);
    x.update_self(own, start);
    for (std::uint8_t i = 1; i <= 8; ++i) {
      auto r = report(i, 0, 1);
      if (i > behind) {
        r.step += 2;
        r.history_samples += 200;
        r.state = state_number(30);
      }
      x.hear(r, start);
    }
    auto lone = report(9, 0, 1);
    lone.history_samples += 100000;
    lone.state = state_number(1);
    x.hear(lone, start);
    for (const auto& donor : x.ahead(start))
      CHECK(donor.state == state_number(30));
    // Most have gone on: those are followed, whatever the lone one says.
    CHECK(x.ahead(start).empty() == (behind == 8));
  }
}

TEST_CASE("a joiner prefers a history that more than a few have") {
  auto x = tracker();
  auto own = report(0, 0, 0);
  own.phase = phase::joining;
  own.step = own.history_samples = 0;
  x.update_self(own, start);
  auto lone = report(9, 0, 1);
  lone.history_samples += 100000;
  lone.state = state_number(1);
  x.hear(lone, start);
  CHECK(x.ahead(start).size() == 1); // Better than nothing.
  for (std::uint8_t i = 1; i <= 5; ++i)
    x.hear(report(i, 0, 1), start);
  CHECK(x.ahead(start).size() == 5);
}

TEST_CASE("a joiner finds everybody ahead that has a state") {
  progress_tracker x{100, peer(0), 10s};
  auto first = report(1, 0, 1);
  first.history_samples = 0;
  first.step = 0;
  x.hear(first, start);
  CHECK(x.ahead(start).size() == 1);
}

TEST_CASE("the history rule orders states totally") {
  std::mt19937_64 random{5};
  std::vector<progress_report> all;
  for (std::size_t i = 0; i < 40; ++i) {
    all.push_back(report(i, 0, 1));
    all.back().history_samples = random() % 4;
    all.back().state = state_number(static_cast<std::uint8_t>(random() % 4));
  }
  for (const auto& a : all)
    for (const auto& b : all) {
      bool same = a.history_samples == b.history_samples && a.state == b.state;
      CHECK(better_history(a, b) + better_history(b, a) == (same ? 0 : 1));
      for (const auto& c : all)
        if (better_history(a, b) && better_history(b, c))
          CHECK(better_history(a, c));
    }
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
