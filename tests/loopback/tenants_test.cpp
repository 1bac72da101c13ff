/// `potluck bootstrap --run`: averages for a run, as an auxiliary peer of it.
#include "tests/loopback/scene.hpp"

#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

peer& bootstrap_with(scene& s, const words& more) {
  return s.start("bootstrap", words{"bootstrap", "--listen", "127.0.0.1:0",
                                    "--identity-dir", s.path("bootstrap"),
                                    "--log-json", s.path("bootstrap.jsonl")}
                                  + more);
}

/// Two trainers of a run that find each other there.
std::vector<peer*> two_trainers(scene& s, const std::string& seed,
                                std::uint64_t steps) {
  std::vector<peer*> all;
  for (auto name : {"a", "b"})
    all.push_back(&s.join(name, words{"--peer", seed, "--run", "poems"}
                                    + tiny_run(64, steps)));
  return all;
}

/// Waits for a step that `count` peers made together.
void await_step_of(peer& who, std::uint64_t count) {
  auto found = who.log.await(
      [&](const json& x) {
        return x.at("event") == "step" && x.at("peers") == count;
      },
      run_patience);
  CHECK(!found.is_null());
}

/// Ends them, and checks that they leave in order.
void interrupt(const std::vector<peer*>& all) {
  for (auto p : all)
    p->process.signal(SIGINT);
  check_all_finish(all);
}

json await_tenant(peer& bootstrap, const std::string& what) {
  auto found = bootstrap.log.await(
      [&](const json& x) {
        return x.at("event") == "tenant" && x.at("what") == what;
      },
      run_patience);
  REQUIRE(!found.is_null());
  return found;
}

void averages_for_a_run(const words& options) {
  scene s;
  auto& hub = bootstrap_with(s, options);
  auto trainers = two_trainers(s, hub.address(), 80);
  auto joined = await_tenant(hub, "joined");
  CHECK(joined.at("run") == "poems");
  CHECK(joined.at("peer") != hub.id().substr(0, 8));
  for (auto p : trainers)
    await_step_of(*p, 3);
  check_all_finish(trainers);
  CHECK(check_equal_digests(trainers) > 0);
  CHECK(!hub.log.named("round").empty());
  CHECK(await_tenant(hub, "left").at("reason") == "the run is finished");
  CHECK(hub.log.named("fault").empty());
}

} // namespace

TEST_CASE("a bootstrap averages for a run that it is told to average for") {
  averages_for_a_run({"--run", "prose", "--run", "poems"});
}

TEST_CASE("a bootstrap averages for any run when it is told so") {
  averages_for_a_run({"--any-run"});
}

TEST_CASE("a bootstrap whose month is used up leaves the run, which goes on") {
  scene s;
  auto& hub = bootstrap_with(s, {"--run", "poems", "--monthly-traffic", "3MB"});
  // However many steps the month lasts.
  auto trainers = two_trainers(s, hub.address(), 1000000);
  for (auto p : trainers)
    await_step_of(*p, 3);
  CHECK(await_tenant(hub, "left").at("reason")
        == "the month's traffic is used up");
  for (auto p : trainers)
    p->await_step(p->last_step() + 3, run_patience);
  interrupt(trainers);
  CHECK(check_equal_digests(trainers) > 0);
  CHECK(hub.log.named("notice").size() >= 1);
}

TEST_CASE("a bootstrap without room for a share stays out, and says why") {
  scene s;
  auto& hub = bootstrap_with(s, {"--run", "poems", "--max-memory", "1MB"});
  auto trainers = two_trainers(s, hub.address(), 30);
  await_tenant(hub, "joined");
  check_all_finish(trainers);
  CHECK(check_equal_digests(trainers) > 0);
  auto faults = hub.log.named("fault");
  REQUIRE(!faults.empty());
  CHECK(faults.front().at("detail").get<std::string>().find("max-memory")
        != std::string::npos);
}

TEST_CASE("a mistake in what a bootstrap averages is one sentence") {
  scene s;
  for (auto& [flags, says] :
       {std::pair<words, std::string>{{"--monthly-traffic", "5GB"},
                                      "--any-run"},
        {{"--any-run", "--monthly-traffic", "5Gbit"}, "is not a size"},
        {{"--any-run", "--max-memory", "much"}, "is not a size"},
        {{"--run", "poems", "--insecure", "--listen", "127.0.0.1:0"},
         "--insecure"}}) {
    auto x = s.run("mistaken", words{"bootstrap"} + flags);
    CHECK(x.status == 2);
    CAPTURE(x.output);
    CHECK(x.output.find(says) != std::string::npos);
  }
}
