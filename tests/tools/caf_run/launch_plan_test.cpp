#include "tools/caf_run/launch_plan.hpp"

#include <sstream>

#include <doctest/doctest.h>

using namespace potluck::caf_run;

namespace {

launch_plan plan(const std::string& hosts) {
  std::istringstream in{hosts};
  auto lines = read_hosts(in);
  REQUIRE(lines);
  return launch_plan{*lines};
}

/// All lines that may start now.
std::vector<std::size_t> starts(launch_plan& x) {
  std::vector<std::size_t> all;
  while (auto index = x.next_start())
    all.push_back(*index);
  return all;
}

using indexes = std::vector<std::size_t>;

} // namespace

TEST_CASE("the master starts when every slave has reported") {
  auto x = plan("m\na\nb\n");
  CHECK(starts(x) == indexes{1, 2});
  CHECK(x.reported("b"));
  CHECK(starts(x).empty());
  CHECK(x.awaits_reports());
  CHECK(x.reported("a"));
  CHECK(starts(x) == indexes{0});
  CHECK_FALSE(x.awaits_reports());
}

TEST_CASE("a line with wait holds back the ones behind it") {
  auto x = plan("m\na\nb wait\nc\n");
  CHECK(starts(x) == indexes{1, 2});
  CHECK(x.reported("a"));
  CHECK(starts(x).empty());
  CHECK(x.reported("b"));
  CHECK(starts(x) == indexes{3});
}

TEST_CASE("a report that nobody awaits changes nothing") {
  auto x = plan("m\na\n");
  CHECK_FALSE(x.reported("a")); // not started yet
  starts(x);
  CHECK_FALSE(x.reported("stranger"));
  CHECK(x.reported("a"));
  CHECK_FALSE(x.reported("a"));
}

TEST_CASE("the launch ends when only those that serve are left") {
  auto x = plan("m\nseed serve\nt\n");
  starts(x);
  x.reported("seed");
  x.reported("t");
  starts(x);
  x.ended(0, "");
  CHECK_FALSE(x.ending());
  x.ended(2, "");
  CHECK(x.ending());
  CHECK_FALSE(x.over());
  // The server may die of the signal that ends it.
  x.ended(1, "was ended by signal 15 (Terminated)");
  CHECK(x.over());
  CHECK(x.problem().empty());
}

TEST_CASE("a slave that ends before it reports ends the launch") {
  for (auto how : {"", "exited with status 1"}) {
    auto x = plan("m\na\nb\n");
    starts(x);
    x.ended(1, how);
    CHECK(x.ending());
    CHECK(x.problem().rfind("line 2 (a)", 0) == 0);
    CHECK(starts(x).empty());
    CHECK_FALSE(x.over());
    x.ended(2, "");
    CHECK(x.over());
  }
}

TEST_CASE("a process that ends badly ends the launch") {
  auto x = plan("m\na\n");
  starts(x);
  x.reported("a");
  starts(x);
  x.ended(1, "exited with status 4");
  CHECK(x.ending());
  CHECK(x.problem().find("exited with status 4") != std::string::npos);
  // What ends later is a consequence, not the cause.
  x.ended(0, "was ended by signal 15 (Terminated)");
  CHECK(x.problem().rfind("line 2 (a)", 0) == 0);
}

TEST_CASE("one that serves may end well while others work, but not badly") {
  for (std::string how : {"", "exited with status 1"}) {
    auto x = plan("m\nseed serve\n");
    starts(x);
    x.reported("seed");
    starts(x);
    x.ended(1, how);
    CHECK(x.ending() == !how.empty());
    x.ended(0, "");
    CHECK(x.over());
    CHECK(x.problem().empty() == how.empty());
  }
}

TEST_CASE("silence for too long names the one that is silent") {
  auto x = plan("m\na\nb\n");
  starts(x);
  x.reported("a");
  x.timed_out();
  CHECK(x.ending());
  CHECK(x.problem().rfind("line 3 (b) has not reported", 0) == 0);
}

TEST_CASE("nobody is silent once all have reported") {
  auto x = plan("m\na\n");
  starts(x);
  x.reported("a");
  x.timed_out();
  CHECK_FALSE(x.ending());
}

TEST_CASE("an interruption ends the launch, but not one that went well") {
  auto x = plan("m\n");
  starts(x);
  x.interrupted();
  CHECK(x.ending());
  CHECK_FALSE(x.problem().empty());
  auto y = plan("m\n");
  starts(y);
  y.ended(0, "");
  y.interrupted();
  CHECK(y.problem().empty());
  CHECK(y.over());
}
