/// A run whose bootstraps are all killed.

#include "tests/loopback/scene.hpp"

#include <csignal>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

std::string content(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

} // namespace

TEST_CASE(
    "a run goes on without its bootstraps, and who was there comes back") {
  scene s;
  auto& seed = s.bootstrap();
  auto& second
      = s.start("second", {"bootstrap", "--listen", "127.0.0.1:0", "--peer",
                           seed.address(), "--identity-dir", s.path("second"),
                           "--log-json", s.path("second.jsonl")});
  // The name has two addresses on most machines, of which one answers.
  auto run = words{"--peer", seed.address(), "--peer",
                   "localhost:" + std::to_string(second.port())}
             + tiny_run(64, 1000000);
  auto& a = s.join("a", run);
  a.await_step(1);
  auto& b = s.join("b", run);
  auto& c = s.join("c", run);
  b.await("step");
  c.await("step");
  const auto port = c.port();
  c.process.signal(SIGTERM);
  REQUIRE(c.process.wait(startup_patience).has_value());
  auto kept = content(s.path("c/potluck.peers"));
  CAPTURE(kept);
  CHECK((kept.find(a.address()) != std::string::npos
         || kept.find(b.address()) != std::string::npos));

  for (auto* x : {&seed, &second}) {
    x->process.signal(SIGKILL);
    x->process.wait(startup_patience);
  }
  a.await_step(a.last_step() + 3);

  auto& back = s.join("back", run + words{"--identity-dir", s.path("c")});
  CHECK(back.port() == port);
  check_agree(a, back, 3);

  for (auto* x : {&a, &b, &back}) {
    x->process.signal(SIGTERM);
    CHECK(x->process.wait(startup_patience)->status == 0);
  }
}

TEST_CASE("a port that is taken meanwhile is replaced, and that is said") {
  scene s;
  auto& first = s.bootstrap();
  const auto port = first.port();
  const auto where = first.address();
  // It is written a few seconds after the start, or at the end.
  first.process.signal(SIGTERM);
  first.process.wait(startup_patience);
  auto& thief = s.start("thief",
                        {"bootstrap", "--listen", where, "--identity-dir",
                         s.path("thief"), "--log-json", s.path("thief.jsonl")});
  REQUIRE(thief.port() == port);
  auto& again = s.start("again", {"bootstrap", "--listen", "127.0.0.1:0",
                                  "--identity-dir", s.path("bootstrap"),
                                  "--log-json", s.path("again.jsonl")});
  CHECK(again.port() != port);
  auto notice = again.await("notice");
  CHECK(notice.at("message").get<std::string>().find("is taken")
        != std::string::npos);
}

TEST_CASE("a damaged file of addresses is not used, and said once") {
  scene s;
  auto& host = s.join("host", tiny_run(64, 100000));
  host.await("step");
  host.process.signal(SIGTERM);
  host.process.wait(startup_patience);
  std::ofstream{s.path("host/potluck.peers")}
      << "potluck addresses 1\nrubbish\n";
  auto& again = s.join("again", tiny_run(64, 100000)
                                    + words{"--identity-dir", s.path("host")});
  again.await("step");
  again.process.signal(SIGTERM);
  CHECK(again.process.wait(startup_patience)->status == 0);
  auto printed = again.process.output();
  CAPTURE(printed);
  CHECK(printed.find("potluck.peers is damaged in line 2")
        != std::string::npos);
}
