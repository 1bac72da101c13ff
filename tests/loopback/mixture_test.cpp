/// A trainer whose network calls experts, and what killing hosts costs it.

#include <algorithm>
#include <csignal>
#include <set>

#include <doctest/doctest.h>

#include "tests/loopback/scene.hpp"

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// Of lost experts to be back with other hosts.
constexpr double back_within_seconds = 30;

words network() {
  return {"--model",
          "mnist-dmoe",
          "--data",
          "digits",
          "--hidden-size",
          "16",
          "--layers",
          "2",
          "--experts",
          "ffn",
          "--expert-grid",
          "4x2",
          "--experts-per-sample",
          "2",
          "--call-packing",
          "float16"};
}

} // namespace

TEST_CASE("killing one of four hosts costs a run no step, and the other three "
          "have its experts within thirty seconds") {
  scene s;
  auto& seed = s.bootstrap();
  std::vector<peer*> hosts;
  for (int i = 0; i < 4; ++i) {
    auto name = "host" + std::to_string(i);
    hosts.push_back(&s.start(
        name, {"expert", "--listen", "127.0.0.1:0", "--peer", seed.address(),
               "--uids", "ffn.*." + std::to_string(i) + ".*", "--grid", "2x4x2",
               "--hidden", "16", "--threads", "1", "--save-every", "8",
               "--identity-dir", s.path(name), "--log-json",
               s.path(name + ".json")}));
  }
  auto& trainer = s.start(
      "trainer",
      words{"join", "--listen", "127.0.0.1:0", "--peer", seed.address(),
            "--identity-dir", s.path("trainer"), "--log-json",
            s.path("trainer.json"), "--target-batch", "32", "--steps", "100000"}
          + network());
  // Each expert's replicas lie at two others by then.
  trainer.await_step(60, run_patience);
  hosts[0]->process.signal(SIGKILL);
  const auto killed = std::chrono::system_clock::now();
  const auto at_death = trainer.last_step();
  auto lost = [&] {
    std::set<std::string> result;
    for (auto layer : {"0", "1"})
      for (auto i : {"0", "1"})
        result.insert(std::string{"ffn."} + layer + ".0." + i);
    return result;
  }();
  double latest = 0;
  const auto end = std::chrono::steady_clock::now() + run_patience;
  for (std::size_t i = 1; !lost.empty(); i = i % 3 + 1) {
    for (auto& x : hosts[i]->log.lines())
      if (x.at("event") == "expert_moved" && x.at("what") == "took over"
          && lost.erase(x.at("expert").get<std::string>()) > 0)
        latest = std::max(latest, x.at("time").get<double>()
                                      - std::chrono::duration<double>(
                                            killed.time_since_epoch())
                                            .count());
    REQUIRE(std::chrono::steady_clock::now() < end);
    trainer.await_step(trainer.last_step() + 1);
  }
  MESSAGE("back after " << latest << " s");
  CHECK(latest < back_within_seconds);
  trainer.await_step(trainer.last_step() + 20);
  CHECK(trainer.last_step() > at_death + 20);
  std::uint64_t before = 0;
  for (auto& x : trainer.log.lines())
    if (x.at("event") == "step") {
      REQUIRE(x.at("step") == before + 1); // None is missing, none is twice.
      before = x.at("step");
    }
  trainer.process.signal(SIGINT);
  auto ended = trainer.process.wait(startup_patience);
  REQUIRE(ended.has_value());
  CHECK(ended->status == 0);
}
