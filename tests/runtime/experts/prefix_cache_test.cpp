#include "runtime/experts/prefix_cache.hpp"

#include <doctest/doctest.h>

#include "runtime/config.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("what a prefix leads to is believed for a few seconds") {
  prefix_cache cache;
  time_point now{10s};
  CHECK(!cache.find("x.1", now));
  cache.keep("x.1", {2, 3}, now);
  CHECK(cache.find("x.1", now + limits::expert_prefix_life - 1ms)
        == std::vector<std::uint32_t>{2, 3});
  CHECK(!cache.find("x.1", now + limits::expert_prefix_life));
  CHECK(!cache.find("x.2", now));
}

TEST_CASE("that there is nobody is not remembered") {
  prefix_cache cache;
  cache.keep("x", {1}, time_point{});
  cache.keep("x", {}, time_point{});
  CHECK(!cache.find("x", time_point{}));
}

TEST_CASE("it forgets before it holds too much, the old first") {
  prefix_cache cache;
  time_point then{1s};
  auto name = [](std::size_t i) { return "x." + std::to_string(i); };
  for (std::size_t i = 0; i + 1 < limits::expert_lookups_kept; ++i)
    cache.keep(name(i), {1}, then);
  auto now = then + limits::expert_prefix_life;
  cache.keep("fresh", {1}, now);
  cache.keep("more", {1}, now);
  CHECK(cache.find("fresh", now));
  CHECK(cache.find("more", now));
  CHECK(!cache.find(name(0), now - 1ms));
}
