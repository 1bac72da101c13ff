/// `potluck doctor` beside real peers of this machine.

#include "tests/loopback/scene.hpp"

#include <csignal>

#include <sys/stat.h>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

json finding_of(const json& all, const std::string& topic) {
  for (auto& x : all.at("findings"))
    if (x.at("topic").get<std::string>().rfind(topic, 0) == 0)
      return x;
  return {{"grade", "none"}, {"what", ""}};
}

/// What it says, and that its exit status says the same.
json examine(scene& s, const std::string& name, const words& more) {
  auto done = s.run(name, words{"doctor", "--json", "--listen", "127.0.0.1:0"}
                              + more);
  INFO(done.output);
  auto all = json::parse(done.output, nullptr, false);
  REQUIRE_FALSE(all.is_discarded());
  CHECK(all.at("status") == done.status);
  return all;
}

} // namespace

TEST_CASE("the doctor finds nothing wrong between a machine and a bootstrap") {
  scene s;
  auto& seed = s.bootstrap();
  auto all = examine(
      s, "well", {"--peer", seed.address(), "--identity-dir", s.path("id")});
  INFO(all.dump(1));
  CHECK(finding_of(all, "peer").at("grade") == "good");
  CHECK(finding_of(all, "peer")
            .at("what")
            .get<std::string>()
            .find("clocks 0 s apart")
        != std::string::npos);
  CHECK(finding_of(all, "reach").at("grade") == "good");
  CHECK(finding_of(all, "line").at("grade") == "good");
  CHECK(finding_of(all, "identity").at("grade") == "good");
  // Memory, disk and BLAS are this machine's.
  for (auto& x : all.at("findings"))
    if (x.at("grade") == "degraded") {
      const auto topic = x.at("topic").get<std::string>();
      CAPTURE(topic);
      const bool own = topic == "memory" || topic == "disk" || topic == "BLAS"
                       || topic == "GPU";
      CHECK(own);
    }
  CHECK(all.at("status") <= 1);
  // A visit leaves nothing behind.
  struct stat status {};
  CHECK(::stat(s.path("id").c_str(), &status) != 0);
}

TEST_CASE("the doctor says what could be better") {
  scene s;
  auto& seed = s.bootstrap();
  // Somebody let others read a key.
  auto& trainer = s.join("trainer", tiny_run(64, 1000000)
                                        + words{"--peer", seed.address()});
  trainer.address();
  REQUIRE(::chmod((s.path("trainer") + "/identity").c_str(), 0644) == 0);
  trainer.process.signal(SIGTERM);
  trainer.process.wait(startup_patience);
  auto all = examine(s, "worse",
                     {"--peer", seed.address(), "--peer", "127.0.0.1:1",
                      "--identity-dir", s.path("trainer")});
  INFO(all.dump(1));
  CHECK(all.at("status") == 1);
  CHECK(finding_of(all, "identity").at("grade") == "degraded");
  // One of two peers is enough.
  CHECK(finding_of(all, "peer 127.0.0.1:1").at("grade") == "degraded");
}

TEST_CASE("the doctor says why a machine cannot take part") {
  scene s;
  SUBCASE("nobody is there") {
    auto all = examine(s, "nobody", {"--peer", "127.0.0.1:1"});
    CHECK(all.at("status") == 2);
    CHECK(finding_of(all, "peer").at("grade") == "fatal");
  }
  SUBCASE("a name stands for nothing") {
    auto all = examine(s, "name", {"--peer", "nowhere.invalid:7000"});
    CHECK(all.at("status") == 2);
    CHECK(finding_of(all, "peer").at("what").get<std::string>().find("name")
          != std::string::npos);
  }
  SUBCASE("the run has other settings") {
    auto& trainer = s.join("trainer", tiny_run(64, 1000000));
    const auto where = trainer.address();
    trainer.await_step(1);
    auto all = examine(
        s, "run",
        {"--peer", where, "--run", "potluck", "--target-batch", "63"});
    INFO(all.dump(1));
    CHECK(all.at("status") == 2);
    CHECK(finding_of(all, "run")
              .at("what")
              .get<std::string>()
              .find("target-batch is 64, not 63")
          != std::string::npos);
    auto fits = examine(
        s, "fits",
        {"--peer", where, "--run", "potluck", "--target-batch", "64"});
    CHECK(finding_of(fits, "run").at("grade") == "good");
  }
}
