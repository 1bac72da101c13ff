#include "runtime/membership/last_reports.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id id(std::uint8_t n) {
  peer_id x;
  x.bytes[0] = n;
  return x;
}

progress_report report_of(std::uint8_t n, std::uint64_t step) {
  progress_report x;
  x.id = id(n);
  x.step = step;
  return x;
}

constexpr time_point start{1h};

bool everybody(const peer_id&) {
  return true;
}

} // namespace

TEST_CASE("what a peer said last counts, whenever it arrives") {
  last_reports all;
  CHECK(all.of(id(1)) == nullptr);
  CHECK(all.take(report_of(1, 5), start, false));
  CHECK_FALSE(all.take(report_of(1, 4), start - 1ns, false));
  REQUIRE(all.of(id(1)) != nullptr);
  CHECK(all.of(id(1))->step == 5);
  CHECK(all.take(report_of(1, 6), start, false));
  CHECK(all.of(id(1))->step == 6);
  CHECK(all.of(id(2)) == nullptr);
  all.forget(id(1));
  CHECK(all.of(id(1)) == nullptr);
  CHECK(all.take(report_of(1, 4), start - 1ns, false));
}

TEST_CASE("a record that is found again is the same, a message never is") {
  last_reports all;
  CHECK(all.take(report_of(1, 5), start, true));
  const auto next = start + last_reports::same_record;
  CHECK_FALSE(all.take(report_of(1, 6), next - 1ns, true));
  CHECK(all.of(id(1))->step == 5);
  CHECK(all.take(report_of(1, 6), next, true));
  CHECK(all.take(report_of(1, 7), next + 1ns, false));
  CHECK(all.of(id(1))->step == 7);
  CHECK_FALSE(all.take(report_of(1, 7), next + 1ns, true));
}

TEST_CASE("recent reports come in the order of ids, without those left out") {
  last_reports all;
  all.take(report_of(3, 30), start, false);
  all.take(report_of(1, 10), start, false);
  all.take(report_of(2, 20), start - 1s, false);
  auto recent = all.recent(start + 4s, 5s, everybody);
  REQUIRE(recent.size() == 3);
  CHECK(recent[0].step == 10);
  CHECK(recent[1].step == 20);
  CHECK(recent[2].step == 30);
  recent = all.recent(start + 4s + 1ns, 5s, everybody);
  REQUIRE(recent.size() == 2);
  CHECK(recent[1].step == 30);
  recent = all.recent(start, 5s, [](auto& who) { return who != id(1); });
  REQUIRE(recent.size() == 2);
  CHECK(recent[0].step == 20);
}

TEST_CASE("one that said something just so long ago is heard no more") {
  last_reports all;
  CHECK_FALSE(all.heard_within(id(1), start, 10min));
  all.take(report_of(1, 5), start, false);
  CHECK(all.heard_within(id(1), start + 10min - 1ns, 10min));
  CHECK_FALSE(all.heard_within(id(1), start + 10min, 10min));
  CHECK_FALSE(all.heard_within(id(2), start, 10min));
}
