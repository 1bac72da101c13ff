#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <thread>

#include "runtime/planning/linear_program.hpp"

using namespace potluck;
using relation = linear_program::relation;

TEST_CASE("the least objective under all three relations is found") {
  // Least 2x + 3y with x + y = 10, x <= 6, y >= 1, x - y >= -8.
  linear_program program{2};
  program.cost(0, 2);
  program.cost(1, 3);
  program.limit(0, 6);
  program.require({{0, 1}, {1, 1}}, relation::equal, 10);
  program.require({{1, 1}}, relation::at_least, 1);
  program.require({{0, -1}, {1, 1}}, relation::at_most, 8);
  auto found = program.solve();
  REQUIRE(found);
  CHECK(found->objective == doctest::Approx(24));
  CHECK(found->values[0] == doctest::Approx(6));
  CHECK(found->values[1] == doctest::Approx(4));
}

TEST_CASE("a program without an answer has none") {
  linear_program impossible{1};
  impossible.limit(0, 1);
  impossible.require({{0, 1}}, relation::at_least, 2);
  CHECK_FALSE(impossible.solve());
  linear_program endless{1};
  endless.cost(0, -1);
  endless.require({{0, 1}}, relation::at_least, 2);
  CHECK_FALSE(endless.solve());
}

TEST_CASE("terms of one variable add up") {
  linear_program program{1};
  program.cost(0, 1);
  program.require({{0, 1}, {0, 3}}, relation::at_least, 8);
  auto found = program.solve();
  REQUIRE(found);
  CHECK(found->values[0] == doctest::Approx(2));
}

TEST_CASE("figures that a solver cannot take are refused before it sees them") {
  linear_program program{1};
  CHECK_THROWS_AS(program.solve(), std::invalid_argument);
  CHECK_THROWS_AS(program.cost(1, 1), std::out_of_range);
  SUBCASE("a variable that does not exist") {
    program.require({{1, 1}}, relation::equal, 1);
  }
  SUBCASE("a coefficient that is no number") {
    program.require({{0, std::numeric_limits<double>::quiet_NaN()}},
                    relation::equal, 1);
  }
  SUBCASE("an infinite right side") {
    program.require({{0, 1}}, relation::equal,
                    std::numeric_limits<double>::infinity());
  }
  SUBCASE("a negative limit") {
    program.limit(0, -1);
    program.require({{0, 1}}, relation::equal, 1);
  }
  CHECK_THROWS_AS(program.solve(), std::invalid_argument);
}

TEST_CASE("threads solve programs of their own at the same time") {
  std::vector<double> found(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&found, i] {
      for (int k = 0; k < 50; ++k) {
        linear_program program{1};
        program.cost(0, 1);
        program.require({{0, 1}}, relation::at_least,
                        static_cast<double>(i + 1));
        if (auto x = program.solve())
          found[i] = x->objective;
      }
    });
  for (auto& x : threads)
    x.join();
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == doctest::Approx(static_cast<double>(i + 1)));
}
