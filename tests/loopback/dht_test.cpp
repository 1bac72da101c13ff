/// `potluck dht` beside real peers of this machine.

#include "tests/loopback/scene.hpp"

#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;

namespace {

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("who is announced under a run is shown, and by how many nodes") {
  scene s;
  auto& seed = s.bootstrap();
  auto& trainer = s.join("trainer", tiny_run(64, 100000)
                                        + words{"--peer", seed.address()});
  const auto where = trainer.address();
  trainer.await_step(1);
  const auto ask = [&](const std::string& run) {
    return s.run("dht", {"dht", "peers", run, "--peer", seed.address()});
  };
  // It publishes every two seconds.
  auto seen = ask("potluck");
  for (int i = 0; i < 10 && !has(seen.output, "1 record of run"); ++i)
    seen = ask("potluck");
  INFO(seen.output);
  CHECK(seen.status == 0);
  CHECK(has(seen.output, "1 record of run 'potluck'"));
  CHECK(has(seen.output, "progress: trainer at " + where));
  CHECK(has(seen.output, trainer.id().substr(0, 8)));
  CHECK(has(seen.output, "signed "));
  CHECK(has(seen.output, "paths 1"));
  auto none = ask("another");
  INFO(none.output);
  CHECK(none.status == 0);
  CHECK(has(none.output, "0 records of run 'another'"));
  // A bootstrap is under the key of all of them.
  auto get
      = s.run("get", {"dht", "get", "bootstraps", "--peer", seed.address()});
  INFO(get.output);
  CHECK(get.status == 0);
  CHECK(has(get.output, "of 'bootstraps'"));
}

TEST_CASE("what is put is kept under its owner's name, and found") {
  scene s;
  auto& seed = s.bootstrap();
  seed.address();
  const auto put = [&](const std::string& kind, const std::string& value) {
    return s.run("put", {"dht", "put", "a key", kind, value, "--peer",
                         seed.address(), "--identity-dir", s.path("owner")});
  };
  auto done = put("coordinates", "0102ff");
  INFO(done.output);
  REQUIRE(done.status == 0);
  CHECK(has(done.output, "1 node keeps it"));
  auto get = s.run("get", {"dht", "get", "a key", "--peer", seed.address()});
  INFO(get.output);
  CHECK(get.status == 0);
  CHECK(has(get.output, "coordinates: 0102ff"));
  CHECK(has(get.output, "named by 1 of 1, paths 1"));
  SUBCASE("but nothing that its kind's rule forbids") {
    auto no = put("coordinates", "ff01");
    INFO(no.output);
    CHECK(no.status == 2);
    CHECK(has(no.output, "the coordinates are in no order"));
  }
  SUBCASE("nor of a kind that there is not") {
    auto no = put("recipe", "00");
    INFO(no.output);
    CHECK(no.status == 2);
    CHECK(has(no.output, "is no kind of records"));
  }
  SUBCASE("nor without anybody to tell") {
    auto no = s.run("no", {"dht", "get", "a key", "--peer", "127.0.0.1:1"});
    INFO(no.output);
    CHECK(no.status == 1);
    CHECK(has(no.output, "Nobody lets this machine in"));
  }
}
