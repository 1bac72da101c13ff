/// `potluck chaos` with a host of its own for every peer.

#include "tests/loopback/chaos_scene.hpp"

#include <doctest/doctest.h>

#include "tests/support/skip.hpp"

using namespace potluck::loopback;
using nlohmann::json;

TEST_CASE("on hosts of their own, peers get through faults of packets") {
  scene s;
  // Steps so large that a fast machine does not make all of them alone while
  // the others get its state over these lines.
  auto path = write(s, R"({
    "run": {"target-batch": 4096, "steps": 40},
    "groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
               {"name": "homes", "count": 3,
                "line": {"delay": "20ms", "jitter": "5ms", "loss": 0.005,
                         "duplicate": 0.01, "reorder": 0.01,
                         "upload": "20mbit", "download": "50mbit"}},
               {"name": "late", "line": {"delay": "20ms"}}],
    "faults": [{"fault": "cut", "who": {"random": 1}, "at": "1s"},
               {"fault": "power_cut", "who": {"random": 1}, "at": "2s"},
               {"fault": "join", "group": "late", "at": "3s"},
               {"fault": "lose", "who": {"random": 1}, "amount": 0.1,
                "at": "3s", "for": "3s"}],
    "expects": {"recovers_within": "1min"}})");
  auto work = s.path("work");
  auto done = s.run("chaos",
                    {"chaos", "--network", "namespaces", "--scenario", path,
                     "--seed", "3", "--json", "--keep", work},
                    chaos_patience);
  INFO(done.output);
  if (done.output.find("network namespaces cannot be made here")
      != std::string::npos)
    return potluck::support::skip("this system makes no hosts: " + done.output);
  REQUIRE(done.status == 0);
  auto verdict = json::parse(done.output);
  CHECK(verdict.at("passed") == true);
  CHECK(verdict.at("network") == "namespaces");
  CHECK(verdict.at("lost_packets") > 0);
  CHECK(verdict.at("cut") > 0);
  CHECK(processes_in(work) == 0);
}
