#include <doctest/doctest.h>

#include "runtime/progress/past_steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr double lie = 1e12;

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

group_contract contract_of(const std::vector<std::uint64_t>& samples) {
  group_contract x;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    group_member m;
    m.who.id = peer(static_cast<std::uint8_t>(i));
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

} // namespace

TEST_CASE("before the first step nothing is known") {
  CHECK(past_steps{}.empty());
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
  for (; claimed < lie; ++steps) {
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
  x.forget();
  CHECK(x.empty());
}
