#include "runtime/relay/circuit_crowd.hpp"

#include <doctest/doctest.h>

using namespace potluck;

using crowd_of_numbers = circuit_crowd<int>;

TEST_CASE("the oldest of the home that has most gives way to another home's") {
  crowd_of_numbers all;
  all.add(9, "a");
  all.add(5, "b");
  all.add(7, "b");
  all.add(1, "b");
  CHECK(all.size() == 4);
  CHECK(all.of("b") == 3);
  CHECK(all.of("c") == 0);
  // The oldest is the one that came first, whatever its number.
  CHECK(all.gives_way_to("c") == 5);
  CHECK(all.gives_way_to("a") == 5);
  all.remove(5);
  CHECK(all.gives_way_to("c") == 7);
}

TEST_CASE("none gives way to a home that would then have as many") {
  crowd_of_numbers all;
  CHECK_FALSE(all.gives_way_to("a"));
  all.add(1, "a");
  CHECK_FALSE(all.gives_way_to("b")); // One each.
  all.add(2, "a");
  CHECK(all.gives_way_to("b") == 1);
  CHECK_FALSE(all.gives_way_to("a")); // Nor to itself.
  all.add(3, "b");
  CHECK_FALSE(all.gives_way_to("b")); // Two each.
}

TEST_CASE("of homes that have equally many the first by name has to give way") {
  crowd_of_numbers all;
  all.add(1, "b");
  all.add(2, "b");
  all.add(3, "a");
  all.add(4, "a");
  CHECK(all.gives_way_to("c") == 3);
}

TEST_CASE("a circuit counts once, and no more when it is gone") {
  crowd_of_numbers all;
  all.add(1, "a");
  all.add(1, "b");
  CHECK(all.size() == 1);
  CHECK(all.of("a") == 1);
  CHECK(all.of("b") == 0);
  all.remove(2);
  CHECK(all.size() == 1);
  all.remove(1);
  all.remove(1);
  CHECK(all.size() == 0);
  CHECK(all.of("a") == 0);
  all.add(1, "b");
  CHECK(all.of("b") == 1);
}
