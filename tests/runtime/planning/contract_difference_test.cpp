#include <doctest/doctest.h>

#include "runtime/planning/contract_difference.hpp"

using namespace potluck;

namespace {

group_contract contract() {
  group_contract x;
  x.gradient_values = 1000;
  x.chunk_values = 300;
  x.members.resize(2);
  for (std::uint8_t i = 0; i < 2; ++i) {
    x.members[i].who.id.bytes[0] = static_cast<std::uint8_t>(0xa0 + i);
    x.members[i].who.where = {"host", 1};
    x.members[i].samples = 10;
    x.members[i].upload_bytes_per_second = 1000;
    x.members[i].download_bytes_per_second = 2000;
  }
  return x;
}

} // namespace

TEST_CASE("equal inputs have equal digests") {
  auto other = contract();
  other.group.bytes[3] = 1; // Nothing that a plan follows from.
  other.step = 9;
  other.members[0].loss_sum = 3;
  CHECK(plan_input_digest(contract()) == plan_input_digest(other));
}

TEST_CASE("whatever input differs, the digests do") {
  auto check = [](const group_contract& other) {
    CHECK(plan_input_digest(contract()) != plan_input_digest(other));
  };
  auto x = contract();
  x.members[1].upload_bytes_per_second = 1500.5;
  check(x);
  x = contract();
  x.members[0].download_bytes_per_second = 0;
  check(x);
  x = contract();
  x.members[0].samples = 11;
  check(x);
  x = contract();
  x.members[1].role = role::auxiliary;
  check(x);
  x = contract();
  x.members[1].relayed = {x.members[0].who.id};
  check(x);
  x = contract();
  x.chunk_values = 200;
  check(x);
  x = contract();
  x.gradient_values = 200;
  check(x);
  x = contract();
  x.members[0].slow_pairs = {{x.members[1].who.id, 1500}};
  check(x);
  x = contract();
  x.members.pop_back();
  check(x);
  x = contract();
  std::swap(x.members[0], x.members[1]);
  check(x);
}

TEST_CASE("a new plan says what it is new for") {
  auto before = contract();
  before.members[1].role = role::auxiliary;
  auto now = before;
  CHECK(plan_change(before, now).empty());
  now.members[0].upload_bytes_per_second *= 0.9; // Noise.
  now.members[0].samples = 99;
  CHECK(plan_change(before, now).empty());
  now.members[0].upload_bytes_per_second = 500e3;
  before.members[0].upload_bytes_per_second = 1e6;
  CHECK(plan_change(before, now) == "peer a0000000 uploads 500 kB/s, not 1000");
  now = before;
  now.members[0].slow_pairs = {{now.members[1].who.id, 100e3}};
  CHECK(plan_change(before, now)
        == "peer a0000000 carries to a1000000 100 kB/s, not 1000");
  CHECK(plan_change(now, before)
        == "peer a0000000 carries to a1000000 1000 kB/s, not 100");
  now = before;
  now.members.pop_back();
  CHECK(plan_change(before, now) == "auxiliary peer a1000000 left");
  CHECK(plan_change(now, before) == "auxiliary peer a1000000 joined");
  now = before;
  now.members[0].download_bytes_per_second = 0;
  CHECK(plan_change(before, now) == "peer a0000000 downloads ? kB/s, not 2");
}

TEST_CASE("of many changes the first few are told") {
  auto now = contract();
  for (std::uint8_t i = 0; i < 9; ++i) {
    now.members.push_back(now.members.front());
    now.members.back().who.id.bytes[0] = i;
  }
  auto sentence = plan_change(contract(), now);
  CHECK(sentence.find("; and 5 more") != std::string::npos);
}
