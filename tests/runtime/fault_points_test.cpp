#include "runtime/fault_points.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace potluck;

namespace {

constexpr auto all = static_cast<std::size_t>(fault_point::count);

/// Which points strike at least once in many tries.
std::set<std::size_t> struck_of(fault_points& x) {
  const fault_points::turn on{&x};
  std::set<std::size_t> result;
  for (int i = 0; i < 10'000; ++i)
    for (std::size_t p = 0; p < all; ++p)
      if (strikes(static_cast<fault_point>(p)))
        result.insert(p);
  return result;
}

} // namespace

TEST_CASE("no fault point strikes unless it is switched on for the thread") {
  fault_points some{1, 1};
  for (int i = 0; i < 10'000; ++i)
    CHECK_FALSE(strikes(fault_point::donor_busy));
  {
    const fault_points::turn on{&some};
    const fault_points::turn off{nullptr};
    for (int i = 0; i < 10'000; ++i)
      CHECK_FALSE(strikes(fault_point::donor_busy));
  }
  CHECK(some.struck() == fault_points::counts{});
}

TEST_CASE(
    "a run's seed says which points are on, a machine's when they strike") {
  fault_points a{7, 1}, b{7, 2};
  const auto on = struck_of(a);
  CHECK(on == struck_of(b));
  CHECK(a.struck() != b.struck());
  fault_points again{7, 1};
  struck_of(again);
  CHECK(again.struck() == a.struck());
  std::set<std::size_t> ever;
  for (std::uint64_t run = 1; run <= 40; ++run) {
    fault_points x{run, 1};
    const auto some = struck_of(x);
    CHECK(some.size() < all);
    ever.insert(some.begin(), some.end());
  }
  CHECK(ever.size() == all);
}

TEST_CASE("every fault point has a name of its own") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < all; ++i)
    CHECK(names.insert(name_of(static_cast<fault_point>(i))).second);
}
