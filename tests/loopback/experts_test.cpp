/// `potluck expert` as a process: it joins, loads its experts, and leaves.

#include "tests/loopback/scene.hpp"

#include <csignal>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

TEST_CASE("a host of experts joins, loads all that its patterns mean, and "
          "leaves in order") {
  scene s;
  auto& seed = s.bootstrap();
  auto& host = s.start("host", {"expert", "--listen", "127.0.0.1:0", "--peer",
                                seed.address(), "--uids", "ffn.0-3.*", "--uids",
                                "ffn.7.1", "--grid", "16x16", "--hidden", "8",
                                "--identity-dir", s.path("host"), "--log-json",
                                s.path("host.json")});
  auto all = host.log.await(
      [](const json& x) {
        return x.at("event") == "experts" && x.at("ready") == 65;
      },
      startup_patience);
  INFO(host.process.output());
  REQUIRE(!all.is_null());
  CHECK(all.at("hosted") == 65);
  host.process.signal(SIGINT);
  auto end = host.process.wait(startup_patience);
  REQUIRE(end.has_value());
  CHECK(end->signal == 0);
  CHECK(end->status == 0);
  auto departure = seed.log.await(
      [](const json& x) { return x.at("event") == "departure"; },
      startup_patience);
  REQUIRE(!departure.is_null());
  CHECK(departure.at("orderly") == true);
}

TEST_CASE("what is wrong with a host's flags is said in one sentence") {
  scene s;
  auto peer = words{"expert", "--peer", "127.0.0.1:1"};
  auto refused = [&](const words& more, const std::string& part) {
    auto x = s.run("wrong", peer + more);
    CAPTURE(x.output);
    CHECK(x.status == 2);
    CHECK(x.output.find(part) != std::string::npos);
  };
  refused({}, "--uids 'ffn.0-3.*'");
  refused({"--uids", "ffn.0"}, "one for each dimension");
  refused({"--uids", "ffn.0.*", "--layer", "soup"}, "not a kind of expert");
  refused({"--uids", "ffn.0.*", "--grid", "16by16"}, "not a grid");
  refused({"--uids", "t.*.*", "--grid", "256x256"}, "at most 4096");
  refused({"--uids", "ffn.0.*", "--hidden", "0"}, "--hidden");
  auto x = s.run("alone", {"expert", "--uids", "ffn.0.*"});
  CHECK(x.status == 2);
  CHECK(x.output.find("--peer") != std::string::npos);
}
