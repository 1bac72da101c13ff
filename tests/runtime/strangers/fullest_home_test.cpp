#include "runtime/strangers/fullest_home.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace potluck;

namespace {

using homes = std::map<std::string, std::size_t>;

std::string gives_way(const homes& all, std::size_t has) {
  const auto which
      = home_that_gives_way(all, has, [](std::size_t size) { return size; });
  return which == all.end() ? "" : which->first;
}

} // namespace

TEST_CASE("the home that has most gives way to one that still has no more") {
  const homes all{{"a", 2}, {"b", 5}, {"c", 4}};
  CHECK(gives_way(all, 0) == "b");
  CHECK(gives_way(all, 3) == "b");
  CHECK(gives_way(all, 4) == "");
  CHECK(gives_way(all, 5) == "");
}

TEST_CASE("where each has one, or nobody has any, nobody gives way") {
  CHECK(gives_way({{"a", 1}, {"b", 1}}, 0) == "");
  CHECK(gives_way({}, 0) == "");
}
