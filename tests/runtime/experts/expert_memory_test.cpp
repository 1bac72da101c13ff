#include "runtime/experts/expert_memory.hpp"
#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/failing_hosts.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;
using coordinates = expert_memory::coordinates;

TEST_CASE("what a prefix leads to is believed for a few seconds") {
  expert_memory memory;
  time_point now{10s};
  CHECK(!memory.find("x.1", now));
  CHECK(memory.keep("x.1", {2, 3}, now) == coordinates{2, 3});
  CHECK(memory.find("x.1", now + limits::expert_prefix_life - 1ms)
        == coordinates{2, 3});
  CHECK(!memory.find("x.1", now + limits::expert_prefix_life));
  CHECK(!memory.find("x.2", now));
}

TEST_CASE("that there is nobody is not remembered") {
  expert_memory memory;
  memory.keep("x", {1}, time_point{});
  memory.keep("x", {}, time_point{});
  CHECK(!memory.find("x", time_point{}));
}

TEST_CASE("it forgets before it holds too much, the old first") {
  expert_memory memory;
  time_point then{1s};
  auto name = [](std::size_t i) { return "x." + std::to_string(i); };
  for (std::size_t i = 0; i + 1 < limits::expert_lookups_kept; ++i)
    memory.keep(name(i), {1}, then);
  auto now = then + limits::expert_prefix_life;
  memory.keep("fresh", {1}, now);
  memory.keep("more", {1}, now);
  CHECK(memory.find("fresh", now));
  CHECK(memory.find("more", now));
  CHECK(!memory.find(name(0), now - 1ms));
}

TEST_CASE(
    "an expert that fails again and again is left alone, longer each time "
    "and not for ever") {
  expert_memory memory;
  time_point now{10s};
  auto listed = [&] {
    return memory.keep("x", {1, 2}, now) == coordinates{1, 2}
           && memory.find("x", now) == coordinates{1, 2};
  };
  auto missing = [&] {
    return memory.keep("x", {1, 2}, now) == coordinates{2}
           && memory.find("x", now) == coordinates{2};
  };
  auto fail = [&](unsigned times) {
    for (; times > 0; --times)
      memory.failed("x.1", now);
  };
  fail(limits::expert_failures - 1);
  CHECK(listed());
  memory.answered("x.1");
  fail(limits::expert_failures - 1);
  CHECK(listed());
  fail(1);
  CHECK(missing());
  for (int i = 0; i < 9; ++i)
    memory.failed("x.1", now); // Open calls fail with it; they count once.
  now += limits::expert_failure_pause;
  CHECK(listed());
  memory.failed("x.1", now);
  now += limits::expert_failure_pause;
  CHECK(missing());
  now += limits::expert_failure_pause;
  CHECK(listed());
  for (int i = 0; i < 40; ++i, now += limits::expert_failure_cap)
    memory.failed("x.1", now);
  CHECK(listed());
  memory.failed("x.1", now);
  CHECK(missing());
  memory.answered("x.1");
  memory.failed("x.1", now);
  CHECK(listed());
}

TEST_CASE("failing experts beyond the limit are forgotten") {
  expert_memory memory;
  for (unsigned i = 0; i < limits::expert_failures; ++i) {
    memory.failed("a.1", time_point{});
    memory.failed("a.2", time_point{});
  }
  for (std::size_t i = 0; i + 1 < limits::experts_failing; ++i)
    memory.failed("x." + std::to_string(i), time_point{});
  CHECK(memory.keep("a", {1, 2}, time_point{}) == coordinates{1});
}
