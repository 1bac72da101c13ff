/// Trainers in homes of their own, behind routers of the kernel's: which get a
/// direct line to each other, and which only a circuit.

#include <csignal>
#include <map>

#include <doctest/doctest.h>

#include "tests/loopback/chaos_scene.hpp"
#include "tests/support/skip.hpp"

using namespace potluck::loopback;
using nlohmann::json;
using potluck::support::json_log;

namespace {

/// A hole is tried once both know of their routers.
constexpr std::chrono::milliseconds hole_patience = 180s;

/// A peer's log, as far as it says with whom it is connected, and how.
struct home {
  explicit home(const std::string& path) : log(path) {
  }
  std::string name() {
    auto found = log.await("listening", startup_patience);
    REQUIRE(!found.is_null());
    return found.at("peer");
  }
  /// Waits until its line to `other` is of this kind.
  bool await(const std::string& other, bool relayed) {
    auto is = [&](const json& x) {
      if (x.value("peer", "") != other)
        return false;
      if (x.at("event") == "way")
        return x.at("relayed") == relayed;
      return x.at("event") == "join"
             && (x.at("address") == "by way of a hub") == relayed;
    };
    return !log.await(is, hole_patience).is_null();
  }
  /// Whether there ever was one.
  bool ever_direct(const std::string& other) {
    for (const auto& x : log.lines())
      if (x.value("peer", "") == other
          && ((x.at("event") == "way" && x.at("relayed") == false)
              || (x.at("event") == "join"
                  && x.at("address") != "by way of a hub")))
        return true;
    return false;
  }
  json_log log;
};

} // namespace

TEST_CASE("homes whose routers keep a port get direct lines through holes") {
  scene s;
  auto path = write(s, R"({
    "lasts": "30min",
    "run": {"target-batch": 1024, "steps": 100000},
    "groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
               {"name": "usual", "count": 1, "router": "port-restricted",
                "line": {"delay": "10ms"}},
               {"name": "open to known hosts", "count": 1,
                "router": "address-restricted", "line": {"delay": "10ms"}},
               {"name": "symmetric", "count": 2, "router": "symmetric",
                "line": {"delay": "10ms"}}],
    "expects": {"recovers_within": "20min"}})");
  auto work = s.path("work");
  auto& chaos = s.start("chaos", {"chaos", "--network", "namespaces",
                                  "--scenario", path, "--keep", work});
  const auto deadline = std::chrono::steady_clock::now() + startup_patience;
  while (chaos.process.running()
         && !std::filesystem::exists(work + "/peer-4.jsonl")
         && std::chrono::steady_clock::now() < deadline)
    chaos.process.wait(50ms);
  if (const auto said = chaos.process.output();
      said.find("cannot be made here") != std::string::npos)
    return potluck::support::skip("this system makes no routers: " + said);
  std::map<int, home> homes;
  std::map<int, std::string> names;
  for (int i = 1; i <= 4; ++i) {
    auto& x = homes.emplace(i, work + "/peer-" + std::to_string(i) + ".jsonl")
                  .first->second;
    names[i] = x.name();
  }
  // Letters first, through the hub.
  CHECK(homes.at(3).await(names[4], true));
  CHECK(homes.at(4).await(names[3], true));
  CHECK(homes.at(1).await(names[2], false));
  CHECK(homes.at(2).await(names[1], false));
  CHECK_FALSE(homes.at(3).ever_direct(names[4]));
  CHECK_FALSE(homes.at(4).ever_direct(names[3]));
  chaos.process.signal(SIGINT);
  REQUIRE(chaos.process.wait(startup_patience));
  CHECK(processes_in(work) == 0);
}
