#include "tools/library/loop_options.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tools/library/complaint.hpp"

using namespace potluck;
using namespace potluck::library;

namespace {

std::string complaint_about(const std::string& name, const std::string& value) {
  loop_options x;
  try {
    x.set(name, value);
  } catch (const complaint& problem) {
    return problem.what();
  }
  return "";
}

} // namespace

TEST_CASE("what is set is got, and demanded of the run") {
  loop_options x;
  CHECK(x.demanded().empty());
  x.set("run", "poems");
  x.set("steps", "12");
  CHECK(x.get("steps") == "12");
  CHECK(x.settings(run_settings{}.initial).steps == 12);
  CHECK(x.given("steps"));
  CHECK_FALSE(x.given("target-batch"));
  const auto demanded = x.demanded();
  CHECK(std::count(demanded.begin(), demanded.end(), setting{"steps", "12"})
        == 1);
}

TEST_CASE("what cannot be is said, with the option's name") {
  CHECK_FALSE(complaint_about("steps", "many").empty());
  CHECK(complaint_about("threads", "9999").find("threads must be") == 0);
  CHECK_FALSE(complaint_about("peer", "nobody").empty());
  CHECK_FALSE(complaint_about("no-such-option", "1").empty());
  CHECK(complaint_about("steps", "12").empty());
}

TEST_CASE("peers and addresses add up") {
  loop_options x;
  x.set("peer", "one.example:7000");
  x.set("peer", "two.example:7001");
  REQUIRE(x.peers().size() == 2);
  CHECK(x.peers()[1].where == address{"two.example", 7001});
  x.set("listen", "127.0.0.1:0");
  CHECK(x.listened() == std::vector<address>{{"127.0.0.1", 0}});
}

TEST_CASE("a setting of another optimizer is found out, whichever came first") {
  loop_options x;
  x.set("momentum", "0.5"); // Of sgd.
  x.set("optimizer", "sgd");
  CHECK_NOTHROW(x.settings(run_settings{}.initial));
  loop_options y;
  y.set("momentum", "0.5");
  y.set("optimizer", "adam");
  CHECK_THROWS_AS(y.settings(run_settings{}.initial), complaint);
}
