#include "runtime/lines/traffic_allowance.hpp"

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using standing = traffic_allowance::standing;

namespace {

constexpr std::int64_t november_30 = 1796083199; // 2026-11-30T23:59:59Z

struct folder {
  support::temporary_directory directory;
  std::string path = directory / "traffic";

  traffic_allowance open(double bytes) {
    auto result = traffic_allowance::open(bytes, path, local_disk());
    REQUIRE(result);
    return std::move(*result);
  }
  std::string kept() {
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    return text.str();
  }
};

} // namespace

TEST_CASE("a month ends at midnight, UTC") {
  CHECK(month_of(0) == "1970-01");
  CHECK(month_of(november_30) == "2026-11");
  CHECK(month_of(november_30 + 1) == "2026-12");
}

TEST_CASE("a month's traffic is used up, and the next month has its own") {
  folder x;
  auto a = x.open(1000);
  CHECK(a.observe(899, november_30 - 100) == standing::ample);
  CHECK(a.observe(900, november_30 - 99) == standing::nearly_used);
  CHECK(a.observe(1000, november_30) == standing::used_up);
  CHECK(a.observe(1010, november_30 + 1) == standing::ample);
  CHECK(a.used() == 10);
}

TEST_CASE("what has passed is kept across restarts") {
  folder x;
  {
    auto a = x.open(1e6);
    a.observe(600'000, november_30);
    CHECK(x.kept() == "2026-11 600000\n"); // Much at once is written at once.
    a.observe(600'900, november_30 + 0);
    CHECK(x.kept() == "2026-11 600000\n");
    REQUIRE(a.save());
  }
  auto b = x.open(1e6);
  CHECK(b.used() == 600'900);
  CHECK(b.observe(399'100, november_30) == standing::used_up);
  // A file of an old month counts for nothing.
  auto c = x.open(1e6);
  CHECK(c.observe(5, november_30 + 1) == standing::ample);
  CHECK(c.used() == 5);
}

TEST_CASE("a clock that is not set yet forgets nothing of the month") {
  folder x;
  std::ofstream{x.path} << "2026-11 950\n";
  auto a = x.open(1000);
  CHECK(a.observe(10, 0) == standing::nearly_used);
  CHECK(a.observe(50, november_30) == standing::used_up);
  CHECK(a.used() == 1000);
}

TEST_CASE("a file that says something else is not believed") {
  folder x;
  std::ofstream{x.path} << "much\n";
  auto a = traffic_allowance::open(1e6, x.path, local_disk());
  REQUIRE(!a);
  CHECK(a.error().find(x.path) != std::string::npos);
}
