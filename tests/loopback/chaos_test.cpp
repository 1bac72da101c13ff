/// `potluck chaos`, with the processes that it starts.

#include "tests/loopback/chaos_scene.hpp"

#include <algorithm>
#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// Starts a run that would not end, and presses Ctrl-C.
void check_interrupted(const std::string& network) {
  scene s;
  auto path = write(s, R"({
    "run": {"target-batch": 64, "steps": 100000},
    "groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
               {"name": "homes", "count": 2}]})");
  auto temporary = s.path("tmp");
  std::filesystem::create_directories(temporary);
  auto& chaos
      = s.start("chaos", {"chaos", "--network", network, "--scenario", path},
                {{"TMPDIR", temporary}});
  auto has_begun = [&] {
    return chaos.process.output().find("the scenario's time begins")
           != std::string::npos;
  };
  auto deadline = std::chrono::steady_clock::now() + startup_patience;
  while (!has_begun() && std::chrono::steady_clock::now() < deadline)
    chaos.process.wait(50ms);
  REQUIRE(has_begun());
  CHECK(processes_in(temporary) == 3);
  chaos.process.signal(SIGINT);
  auto end = chaos.process.wait(startup_patience);
  REQUIRE(end);
  CHECK(end->status == 1);
  CHECK(processes_in(temporary) == 0);
  CHECK(std::filesystem::is_empty(temporary));
}

} // namespace

TEST_CASE("half of eight peers are killed, as many come, and all end equal") {
  scene s;
  auto work = s.path("work");
  auto half = std::filesystem::absolute("tools/scenarios/kill-half.json");
  auto done = s.run("chaos",
                    {"chaos", "--network", "proxies", "--scenario",
                     half.string(), "--seed", "11", "--json", "--keep", work},
                    chaos_patience);
  INFO(done.output);
  REQUIRE(done.status == 0);
  auto verdict = json::parse(done.output);
  CHECK(verdict.at("passed") == true);
  CHECK(verdict.at("not_reached") == 0);
  std::size_t kills = 0, joins = 0;
  for (std::string line : verdict.at("faults")) {
    kills += line.find("kill") != std::string::npos;
    joins += line.find("join") != std::string::npos;
  }
  CHECK(kills == 4);
  CHECK(joins == 2); // Of two each.
  for (const auto& finding : verdict.at("findings"))
    CHECK_MESSAGE(finding.at("holds") == true, finding.dump());
  CHECK(processes_in(work) == 0);
  CHECK(std::filesystem::exists(work + "/peer-12.jsonl"));
}

TEST_CASE("a promise that cannot be kept fails, with a command that replays") {
  scene s;
  auto path = write(s, R"({
    "run": {"target-batch": 64, "steps": 5},
    "groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
               {"name": "homes", "count": 2}],
    "expects": {"final_loss": 0.001}})");
  auto work = s.path("work");
  auto done = s.run("chaos",
                    {"chaos", "--network", "proxies", "--scenario", path,
                     "--seed", "5", "--keep", work},
                    chaos_patience);
  INFO(done.output);
  CHECK(done.status == 1);
  CHECK(done.output.find("WRONG the last loss is 0.001 at most")
        != std::string::npos);
  CHECK(done.output.find("chaos: FAIL") != std::string::npos);
  CHECK(done.output.find("potluck chaos --scenario=" + path
                         + " --seed=5 --network=proxies")
        != std::string::npos);
  CHECK(std::filesystem::exists(work + "/peer-1.jsonl"));
}

TEST_CASE("who is behind NAT finds out, and its samples count all the same") {
  scene s;
  // Lines, not processors, say how long a step takes at least: some times as
  // long as a member has to have taken part before gradients are handed to it
  // (known_trainers::settling).
  auto path = write(s, R"({
    "run": {"target-batch": 512, "steps": 100},
    "groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
               {"name": "open", "count": 2, "line": {"delay": "20ms"}},
               {"name": "behind NAT", "count": 3, "router": "port-restricted",
                "line": {"delay": "20ms"}}]})");
  auto work = s.path("work");
  auto done = s.run("chaos",
                    {"chaos", "--network", "proxies", "--scenario", path,
                     "--seed", "3", "--json", "--keep", work},
                    chaos_patience);
  INFO(done.output);
  REQUIRE(done.status == 0);
  CHECK(json::parse(done.output).at("passed") == true);
  for (int peer = 1; peer <= 5; ++peer) {
    CAPTURE(peer);
    std::ifstream log{work + "/peer-" + std::to_string(peer) + ".jsonl"};
    bool hidden = false;
    bool contributes = false;
    for (std::string line; std::getline(log, line);) {
      auto event = json::parse(line);
      if (event.at("event") == "reach")
        hidden = event.at("reachable") == false;
      if (event.at("event") == "cell")
        contributes |= event.at("contributes") == true;
    }
    CHECK(hidden == (peer > 2));
    CHECK(contributes == (peer > 2));
  }
}

TEST_CASE("Ctrl-C ends a chaos run and leaves neither process nor file") {
  for (std::string network : {"proxies", "auto"}) {
    CAPTURE(network);
    check_interrupted(network);
  }
}

TEST_CASE("what chaos cannot use is refused with one sentence") {
  scene s;
  auto complaint = [&](const words& options) {
    auto done = s.run("chaos", words{"chaos"} + options);
    CHECK(done.status == 2);
    CHECK(std::count(done.output.begin(), done.output.end(), '\n') == 1);
    return done.output;
  };
  auto has = [](const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  has(complaint({}), "Name a scenario with --scenario FILE");
  has(complaint({"--scenario", s.path("none.json")}), "cannot be read");
  auto path = write(s, R"({"groups": [{"name": "homes", "count": 2}],
                           "faults": [{"fault": "kil"}]})");
  has(complaint({"--scenario", path}),
      path
          + ": faults[0].fault: there is no fault `kil`; did you mean `kill`?");
  path = write(s, R"({"groups": [{"name": "homes", "count": 2}],
                      "faults": [{"fault": "power_cut"}]})");
  has(complaint({"--scenario", path, "--network", "proxies"}),
      "power_cut cannot be acted out by proxies");
  path = write(s, R"({"groups": [{"name": "homes", "count": 2}],
                      "faults": [{"fault": "tear_writes"}]})");
  has(complaint({"--scenario", path}),
      "tear_writes is for `potluck sim` alone");
  path = write(s, R"({"groups": [{"name": "homes", "count": 2}]})");
  has(complaint({"--scenario", path, "--network", "cables"}), "--network");
  has(complaint({"--scenario", path, "--peers", "-1"}), "--peers");
  has(complaint({"--scenario", path, "--peers", "2000"}), "2000 processes");
  has(complaint({"--scenario", path, "--steps", "-1"}), "--steps");
  has(complaint({"--scenario", path, "--data", s.path("none")}), "--data");
  has(complaint({"--scenario", path, "--keep", "."}), "is not empty");
}

TEST_CASE("chaos explains the format of scenarios") {
  scene s;
  auto done = s.run("chaos", {"chaos", "--format"});
  CHECK(done.status == 0);
  CHECK(done.output.find("back_after") != std::string::npos);
}
