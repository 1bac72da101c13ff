/// `potluck chaos`, with the processes that it starts.

#include "tests/loopback/scene.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// Only catches what hangs: it takes minutes on a machine that is busy, too.
constexpr std::chrono::milliseconds chaos_patience = 900s;

/// Processes that chaos started in this folder and that still run.
std::size_t processes_in(const std::string& directory) {
  std::size_t found = 0;
  for (const auto& x : std::filesystem::directory_iterator{"/proc"}) {
    std::ifstream in{x.path() / "cmdline", std::ios::binary};
    std::string words{std::istreambuf_iterator<char>{in}, {}};
    found += words.find("--identity-dir=" + directory) != std::string::npos;
  }
  return found;
}

std::string write(const scene& s, const std::string& text) {
  auto path = s.path("scenario.json");
  std::ofstream{path} << text;
  return path;
}

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

TEST_CASE("on hosts of their own, peers get through faults of packets") {
  scene s;
  // Steps so large that a fast machine does not make all of them alone while
  // the others get its state over these lines.
  auto path = write(s, R"({
    "run": {"target-batch": 1024, "steps": 40},
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
      != std::string::npos) {
    MESSAGE("skipped, since this system makes no hosts: " << done.output);
    return;
  }
  REQUIRE(done.status == 0);
  auto verdict = json::parse(done.output);
  CHECK(verdict.at("passed") == true);
  CHECK(verdict.at("network") == "namespaces");
  CHECK(verdict.at("lost_packets") > 0);
  CHECK(verdict.at("cut") > 0);
  CHECK(processes_in(work) == 0);
}

TEST_CASE("who is behind NAT finds out, and its samples count all the same") {
  scene s;
  // Lines, not processors, say how long a step takes at least: some times as
  // long as a member has to have taken part before gradients are handed to it
  // (cell_choice::settling).
  auto path = write(s, R"({
    "run": {"target-batch": 512, "steps": 100},
    "groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
               {"name": "open", "count": 2, "line": {"delay": "20ms"}},
               {"name": "behind NAT", "count": 3, "behind_nat": true,
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
          + ": faults, entry 1: there is no fault `kil`; did you mean `kill`?");
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
