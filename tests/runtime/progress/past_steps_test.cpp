#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/progress/past_steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t lie = std::uint64_t{1} << 40;

peer_id peer(std::size_t i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i);
  return x;
}

/// Of members 0, 1, ...
group_contract contract_of(const std::vector<std::uint64_t>& samples) {
  group_contract x;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    group_member m;
    m.who.id = peer(i);
    m.samples = samples[i];
    x.members.push_back(m);
  }
  return x;
}

/// A step of 2 s, to which peer 0 brought 100 samples, 1 and 2 brought 40.
past_steps one_step(std::vector<std::uint8_t> left_out = {}) {
  past_steps x;
  x.formed(2s, {peer(1), peer(2), peer(8)});
  x.made(contract_of({100, 40, 40}), left_out);
  return x;
}

/// What counts of these claims, so long after the step began.
std::vector<std::uint64_t> counted(const past_steps& by,
                                   const std::vector<std::uint64_t>& claims,
                                   duration elapsed = 0s) {
  const auto most = by.among(contract_of(claims), elapsed);
  auto result = claims;
  for (std::size_t i = 0; i < claims.size(); ++i)
    result[i] = std::min(claims[i], most.of(peer(i)));
  return result;
}

past_steps after(const std::vector<std::uint64_t>& samples,
                 const std::vector<std::uint8_t>& left_out = {}) {
  past_steps x;
  x.made(contract_of(samples), left_out);
  return x;
}

using numbers = std::vector<std::uint64_t>;

} // namespace

// ---- when a step is due -----------------------------------------------------

TEST_CASE("before the first step nothing is known") {
  CHECK(past_steps{}.empty());
  CHECK(past_steps::newcomer(peer(1)).empty());
  CHECK_FALSE(one_step().empty());
}

TEST_CASE("a trainer has what it brought, and twice as much for the time") {
  const auto x = one_step();
  CHECK(x.most_samples(peer(0), 0s) == 100);
  CHECK(x.most_samples(peer(0), 1s) == 200);
  CHECK(x.most_samples(peer(1), 2s) == 120);
  // A step for which others are missing lasts longer.
  CHECK(x.most_samples(peer(1), 20s) == 840);
  CHECK(x.most_speed(peer(1), 0s) == 60);
}

TEST_CASE("who has come since counts by the time, as a fast trainer") {
  const auto x = one_step();
  CHECK(x.most_samples(peer(9), 0s) == 0);
  CHECK(x.most_samples(peer(9), 1s) == 320);
  CHECK(x.most_speed(peer(9), 1s) == 320);
}

TEST_CASE("who was there and brought nothing counts when the step is late") {
  for (const auto& x : {one_step(), one_step({1})}) {
    const auto who = x.most_samples(peer(1), 0s) == 40 ? peer(8) : peer(1);
    CHECK(x.most_samples(who, 4s) == 0);
    CHECK(x.most_speed(who, 4s) == 0);
    CHECK(x.most_samples(who, 5s) == 320);
  }
}

TEST_CASE("who rests is as fast as before when it does not") {
  auto x = one_step();
  x.formed(1s, {});
  x.made(contract_of({100, 40, 0}), {});
  CHECK(x.most_samples(peer(2), 0s) == 40);
  // Nobody knows of one that has always rested.
  past_steps other;
  other.formed(2s, {});
  other.made(contract_of({100, 40, 0}), {});
  CHECK(other.most_samples(peer(2), 1s) == 320);
}

TEST_CASE("a claim has to be shown step by step") {
  auto x = one_step();
  double claimed = 40;
  unsigned steps = 0;
  for (; claimed < static_cast<double>(lie); ++steps) {
    claimed = x.most_samples(peer(2), 2s);
    x.formed(2s, {});
    x.made(contract_of({100, 40, static_cast<std::uint64_t>(claimed)}), {});
  }
  CHECK(steps > 20); // By a factor of three each.
}

TEST_CASE("a group that forms at once says nothing impossible") {
  past_steps x;
  x.formed(0s, {});
  x.made(contract_of({5, 5}), {});
  CHECK(x.most_samples(peer(1), 0s) == 5);
  x.made(contract_of({0, 0}), {}); // Nobody's samples were seen in that one.
  CHECK(x.most_samples(peer(1), 0s) == 5);
}

// ---- what counts in its contract --------------------------------------------

TEST_CASE("in a run's first step a member counts for 16 times the median at "
          "most, and two tell nothing") {
  CHECK(counted({}, {5, 5, 5, lie}) == numbers{5, 5, 5, 80});
  CHECK(counted({}, {5, 6, 60, 70}) == numbers{5, 6, 60, 70});
  CHECK(counted({}, {5, lie}) == numbers{5, lie});
  CHECK(counted({}, {5, lie, 0}) == numbers{5, lie, 0});
}

TEST_CASE("of two a member counts for what it has shown, or the other, and "
          "twice as much for the time") {
  auto x = one_step();
  CHECK(counted(x, {lie, 40, 0}) == numbers{100, 40, 0});
  CHECK(counted(x, {lie, 40, 0}, 2s) == numbers{300, 40, 0});
  CHECK(counted(x, {100, lie, 0}, 2s) == numbers{100, 120, 0});
  CHECK(counted(x, {100, 0, 0, lie}, 2s) == numbers{100, 0, 0, 120});
  // The third has left: the step lasts longer.
  CHECK(counted(x, {900, 360, 0}, 18s) == numbers{900, 360, 0});
  CHECK(counted(past_steps::newcomer(peer(0)), {lie, 1}) == numbers{lie, 1});
  CHECK(counted(x, {lie}, 2s) == numbers{lie}); // Alone it harms nobody.
}

TEST_CASE("where nobody is known that brings samples, the time counts") {
  CHECK(counted(one_step(), {0, 0, 0, 100, 200, lie}, 2s)
        == numbers{0, 0, 0, 100, 120, 120});
}

TEST_CASE("in redrawn groups a member counts for 256 times the median") {
  auto x = past_steps::redrawn();
  CHECK(x.judges(peer(1)));
  CHECK(counted(x, {5, 6, 1000, lie}) == numbers{5, 6, 1000, 6 * 256});
  CHECK(counted(x, {5, lie}) == numbers{5, lie});
}

TEST_CASE("who took a history over counts for three times the median itself, "
          "and bounds nobody else") {
  auto x = past_steps::newcomer(peer(2));
  CHECK(counted(x, {5, 6, lie, lie}) == numbers{5, 6, 18, lie});
  CHECK(counted(x, {5, 0, lie, 0}) == numbers{5, 0, lie, 0});
  x.made(contract_of({5, 6, 5, 5}), {});
  CHECK(counted(x, {5, 6, 5, lie}) == numbers{5, 6, 5, 15});
}

TEST_CASE("a member counts for what it has shown and twice as much for the "
          "time that the others show") {
  const auto x = after({40, 40, 40, 400});
  CHECK(counted(x, {40, 40, 40, lie}) == numbers{40, 40, 40, 1200});
  CHECK(counted(x, {10, 20, 60, lie}) == numbers{10, 20, 60, 800});
  // Others have left: the step lasts four times as long.
  CHECK(counted(x, {160, 160, 160, 1600}) == numbers{160, 160, 160, 1600});
  CHECK(counted(x, {160, 160, 160, lie}) == numbers{160, 160, 160, 3600});
  // It has shown so much already, before the others have begun.
  CHECK(counted(x, {1, 1, 1, 400}) == numbers{1, 1, 1, 400});
}

TEST_CASE("a newcomer, a resting one and a slow one count as the median one") {
  const auto x = after({40, 40, 60, 1, 0});
  CHECK(counted(x, {40, 40, 60, lie, lie, lie})
        == numbers{40, 40, 60, 120, 120, 120});
}

TEST_CASE("who was left out has shown nothing by that") {
  const auto x = after({40, 40, 40, lie}, {3});
  CHECK(counted(x, {40, 40, 40, lie}) == numbers{40, 40, 40, 120});
}

TEST_CASE("one liar of 16 weighs three of 18, then nine of 24, and so on") {
  auto x = after(numbers(15, 40));
  for (std::uint64_t most : {3, 9, 27, 81, 243}) {
    numbers claims(16, 40);
    claims[15] = lie;
    const auto all = counted(x, claims);
    CHECK(all[15] == most * 40);
    CHECK(std::all_of(all.begin(), all.end() - 1,
                      [](auto n) { return n == 40; }));
    x.made(contract_of(all), {});
  }
}

TEST_CASE("a fast machine keeps its weight over a bad step, and one without "
          "it; not for ever") {
  const numbers usual{10, 10, 10, 1000};
  for (std::uint64_t in_bad_step : {1, 0}) {
    auto x = after(usual);
    x.made(contract_of({10, 10, 10, in_bad_step}), {});
    CHECK(counted(x, usual) == usual);
    for (int i = 0; i < 6; ++i)
      x.made(contract_of({10, 10, 10, in_bad_step}), {});
    CHECK(counted(x, usual) == numbers{10, 10, 10, 30});
  }
}

TEST_CASE(
    "who has just come judges nobody, and after eight steps knows as much "
    "as the oldest member") {
  auto old = after({10, 10, 10, 2560});
  auto young = past_steps::newcomer(peer(0));
  const numbers without{10, 12, 14, 0};
  for (int i = 0; i < 8; ++i) {
    CHECK_FALSE(young.judges(peer(1)));
    CHECK(old.judges(peer(1)));
    old.made(contract_of(without), {});
    young.made(contract_of(without), {});
  }
  CHECK(young.judges(peer(1)));
  CHECK_FALSE(young.judges(peer(9))); // It has not been in the last step.
  const numbers claims{10, 12, 14, lie, lie};
  CHECK(counted(old, claims) == counted(young, claims));
}

TEST_CASE("what counts by all steps, or by those that its leader has made") {
  // Leader 0 comes as members 1 and 2 have nearly nothing; then all go on.
  auto others = contract_of({0, 1000, 1000});
  others.members.erase(others.members.begin());
  past_steps old;
  old.made(others, {});
  const numbers idle{2, 2, 1000}, busy{2000, 1000, 1000};
  old.made(contract_of(idle), {});
  auto leader = past_steps::newcomer(peer(0));
  leader.made(contract_of(idle), {});
  CHECK(counted(leader, busy) == busy);
  CHECK(counted(old, busy) == numbers{10, 1000, 1000});
  const auto most = old.leaders_among(contract_of(busy), 0s);
  CHECK(most.of(peer(0)) == leader.among(contract_of(busy), 0s).of(peer(0)));
}

TEST_CASE("who has made all steps counts as any leader that came later does") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    // The leader is the first; the others rest, and are away, now and then.
    const auto some = [&](bool led) {
      numbers result(5 + random() % 5);
      for (auto& x : result)
        x = random() % 3 == 0 ? 0 : std::uint64_t{1} << random() % 20;
      result.front() = led ? 1 + random() % 100 : 0;
      return result;
    };
    past_steps old;
    const auto before = random() % 10, since = 1 + random() % 7;
    for (std::uint64_t i = 0; i < before; ++i) {
      auto x = contract_of(some(false));
      x.members.erase(x.members.begin());
      x.members[0].samples = 1;
      old.made(x, {});
    }
    auto leader = past_steps::newcomer(peer(0));
    for (std::uint64_t i = 0; i < since; ++i) {
      const auto x = contract_of(some(true));
      old.made(x, {});
      leader.made(x, {});
    }
    const auto x = contract_of(some(true));
    const auto theirs = leader.among(x, 0s), ours = old.leaders_among(x, 0s);
    for (std::size_t i = 0; i < 10; ++i)
      CHECK(ours.of(peer(i)) == theirs.of(peer(i)));
  }
}

TEST_CASE("a contract's samples, bounded once, are within the same bounds") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    const auto some = [&](std::size_t n) {
      numbers result(n);
      for (auto& x : result)
        x = random() % 3 == 0 ? random() % 100000 : random() % 100;
      return result;
    };
    auto x = after(some(3 + random() % 10));
    x.made(contract_of(some(3 + random() % 10)), {});
    const auto once = counted(x, some(3 + random() % 10));
    CHECK(counted(x, once) == once);
  }
}

TEST_CASE("members at constant speeds count in full, whoever has left") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    const std::size_t n = 4 + random() % 20;
    numbers speeds(n);
    for (auto& x : speeds)
      x = random() % 4 == 0 ? 20 + random() % 5000 : 20 + random() % 20;
    auto x = after(speeds);
    auto there = speeds;
    for (std::size_t left = n - 3; left > 0 && random() % 3 > 0; --left)
      there[random() % n] = 0;
    const auto all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    const auto rest = std::accumulate(there.begin(), there.end(), 0.0);
    for (auto& s : there) // Until the batch is as large.
      s = static_cast<std::uint64_t>(static_cast<double>(s) * all / rest);
    CHECK(counted(x, there) == there);
  }
}
