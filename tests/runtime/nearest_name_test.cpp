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

TEST_CASE("half a name is near to the whole one") {
  std::vector<std::string> names{"organisers", "organiser-key", "identity-dir"};
  CHECK(nearest_name("identity", names) == "identity-dir");
  CHECK(nearest_name("organiser", names) == "organisers");
  CHECK(nearest_name("key", names).empty());
}
