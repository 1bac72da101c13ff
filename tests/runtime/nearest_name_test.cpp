#include <doctest/doctest.h>

#include "runtime/nearest_name.hpp"

using namespace potluck;

TEST_CASE("the nearest name is found, and none when nothing is near") {
  std::vector<std::string> names{"join", "bootstrap", "monitor"};
  CHECK(nearest_name("jion", names) == "join");
  CHECK(nearest_name("bootsrap", names) == "bootstrap");
  CHECK(nearest_name("monitr", names) == "monitor");
  CHECK(nearest_name("photosynthesis", names).empty());
  CHECK(nearest_name("", names).empty());
}
