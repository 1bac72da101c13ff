#include "tools/lab/bench/moshpit_trials.hpp"

#include <doctest/doctest.h>

#include "runtime/ways/moshpit/moshpit_groups.hpp"

using namespace potluck;
using namespace potluck::bench;

TEST_CASE(
    "512 peers of whom one in a hundred fails in each round reach the mean "
    "to 1e-9 in nine rounds, as published") {
  moshpit_options how;
  CHECK(how.peers == 512);
  CHECK(how.failures == 0.01);
  auto x = average_in_moshpit(how);
  CHECK(x.grid == std::vector<std::size_t>{8, 8, 8});
  CHECK(x.reached);
  CHECK(x.rounds <= 9);
  CHECK(x.rounds > 8);
  // One of all gets through when nobody of 512 fails: once in 171.6 rounds.
  CHECK(x.succeeded);
  CHECK(x.restarted > 100);
  CHECK(x.restarted < 250);
}

TEST_CASE("without failures a full grid needs one epoch, and an all-reduce one "
          "round") {
  moshpit_options how;
  how.failures = 0;
  how.trials = 3;
  auto x = average_in_moshpit(how);
  CHECK(x.rounds == 3);
  CHECK(x.most == 3);
  CHECK(x.restarted == 1);
  REQUIRE(x.left.size() == 3);
  CHECK(x.left[0] == doctest::Approx(1 / 8.).epsilon(0.3));
  CHECK(x.left[1] == doctest::Approx(1 / 64.).epsilon(0.5));
  CHECK(x.left[2] < 1e-20);
}

TEST_CASE("what cannot be reached is given up, and said") {
  moshpit_options how;
  how.peers = 64;
  how.failures = 0.5;
  how.trials = 1;
  auto x = average_in_moshpit(how);
  CHECK(x.reached); // Half of them still mix.
  CHECK_FALSE(x.succeeded);
  how.peers = 2;
  how.failures = 0.9999;
  CHECK_FALSE(average_in_moshpit(how).reached);
}

TEST_CASE("one seed is one figure") {
  moshpit_options how;
  how.peers = 100;
  how.trials = 5;
  auto first = average_in_moshpit(how);
  CHECK(average_in_moshpit(how).left == first.left);
  how.seed = 2;
  CHECK(average_in_moshpit(how).left != first.left);
}
