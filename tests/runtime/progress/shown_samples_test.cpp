#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/progress/shown_samples.hpp"

using namespace potluck;

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

/// What counts of these claims.
std::vector<std::uint64_t> counted(const shown_samples& by,
                                   const std::vector<std::uint64_t>& claims) {
  const auto most = by.among(contract_of(claims));
  auto result = claims;
  for (std::size_t i = 0; i < claims.size(); ++i)
    result[i] = std::min(claims[i], most.of(peer(i)));
  return result;
}

shown_samples after(const std::vector<std::uint64_t>& samples,
                    const std::vector<std::uint8_t>& left_out = {}) {
  shown_samples x;
  x.made(contract_of(samples), left_out);
  return x;
}

using numbers = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("before the first step everything counts, and after it whatever two "
          "members claim") {
  const numbers claims{5, 5, 5, lie};
  CHECK(counted({}, claims) == claims);
  CHECK(counted(after({5, 5}), {5, lie}) == numbers{5, lie});
  CHECK(counted(after({5, 5, 5}), {5, lie, 0}) == numbers{5, lie, 0});
}

TEST_CASE("who took a history over counts for three times the median itself, "
          "and bounds nobody else") {
  auto x = shown_samples::newcomer(peer(2));
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

TEST_CASE("whoever has made eight steps knows as much as the oldest member") {
  auto old = after({10, 10, 10, 2560});
  shown_samples young;
  CHECK_FALSE(young.is_sure());
  const numbers without{10, 12, 14, 0};
  while (!young.is_sure()) {
    old.made(contract_of(without), {});
    young.made(contract_of(without), {});
  }
  const numbers claims{10, 12, 14, lie, lie};
  CHECK(counted(old, claims) == counted(young, claims));
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
