/// `potluck expert` as a process: it joins, loads its experts, and leaves.

#include "tests/loopback/scene.hpp"

#include <csignal>
#include <thread>

#include <doctest/doctest.h>

#include "runtime/experts/expert_shelf.hpp"
#include "tools/lab/bench/blocking_call.hpp"
#include "tools/potluck/calling_peer.hpp"

using namespace potluck::loopback;
using nlohmann::json;

namespace {

constexpr std::uint32_t hidden = 8;

/// Hosts of one run, with an expert each to begin with, and a caller.
struct experts_scene {
  explicit experts_scene(int count) {
    auto& seed = s.bootstrap();
    for (int i = 0; i < count; ++i) {
      auto name = "host" + std::to_string(i);
      hosts.push_back(&s.start(name, {"expert",
                                      "--listen",
                                      "127.0.0.1:0",
                                      "--peer",
                                      seed.address(),
                                      "--layer",
                                      "ffn",
                                      "--uids",
                                      "ffn." + std::to_string(i) + ".0-1",
                                      "--grid",
                                      "16x16",
                                      "--hidden",
                                      std::to_string(hidden),
                                      "--threads",
                                      "1",
                                      "--save-every",
                                      "4",
                                      "--spare",
                                      "8",
                                      "--identity-dir",
                                      s.path(name),
                                      "--log-json",
                                      s.path(name + ".json")}));
    }
    caller.emplace(
        "potluck",
        std::vector<potluck::address>{*potluck::parse_address(seed.address())},
        false);
    for (auto host : hosts) {
      auto all = host->log.await(
          [](const json& x) {
            return x.at("event") == "experts" && x.at("ready") == 2;
          },
          startup_patience);
      INFO(host->process.output());
      REQUIRE(!all.is_null());
    }
  }

  /// The version that the call saw.
  potluck::expected<std::uint64_t> call(const std::string& uid,
                                        potluck::expert_pass pass) {
    potluck::expert_call x;
    x.uid = uid;
    x.pass = pass;
    x.samples = 2;
    auto width = pass == potluck::expert_pass::forward ? hidden : 2 * hidden;
    auto values = std::make_shared<potluck::float_array>(2 * width);
    for (std::size_t i = 0; i < values->size(); ++i)
      (*values)[i] = 0.1f * static_cast<float>(i % 7);
    x.values = std::move(values);
    x.patience = 5s;
    auto answer = potluck::blocking_call(*caller->network(), x);
    if (!answer)
      return potluck::failure{answer.error()};
    return answer->version;
  }
  /// The same, until it succeeds.
  std::uint64_t insist(const std::string& uid, potluck::expert_pass pass,
                       std::chrono::milliseconds patience) {
    auto end = std::chrono::steady_clock::now() + patience;
    for (;;) {
      auto x = call(uid, pass);
      if (x)
        return *x;
      REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, x.error());
      std::this_thread::sleep_for(100ms); // Between two attempts.
    }
  }
  /// Files of this section that hosts have, but for one host.
  std::size_t files(const std::string& section, std::size_t except = 99) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (i == except)
        continue;
      std::error_code missing;
      for (auto& x : std::filesystem::directory_iterator{
               s.path("host" + std::to_string(i)) + "/experts/potluck/"
                   + section,
               missing})
        n += x.path().extension() == ".expert";
    }
    return n;
  }
  bool await_files(const std::string& section, std::size_t count,
                   std::size_t except = 99) {
    auto end = std::chrono::steady_clock::now() + startup_patience;
    while (files(section, except) < count
           && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(50ms); // Until somebody writes.
    return files(section, except) >= count;
  }

  /// Hosts that keep a replica of at least this version for another.
  std::size_t guards(const std::string& uid, std::uint64_t version) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      potluck::expert_shelf shelf{s.path("host" + std::to_string(i))
                                  + "/experts/potluck/replicas"};
      auto x = shelf.get(uid);
      n += x && !x->bytes.empty() && x->version >= version;
    }
    return n;
  }
  bool await_guards(const std::string& uid, std::uint64_t version,
                    std::size_t count) {
    auto end = std::chrono::steady_clock::now() + startup_patience;
    while (guards(uid, version) < count
           && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(50ms); // Until somebody writes.
    return guards(uid, version) >= count;
  }

  scene s;
  std::vector<peer*> hosts;
  std::optional<potluck::tools::calling_peer> caller;
};

} // namespace

TEST_CASE("a killed host's experts are back with the others within thirty "
          "seconds, no more than a save behind") {
  using potluck::expert_pass;
  experts_scene k{4};
  // Two guards each.
  REQUIRE(k.await_files("replicas", 16));
  std::uint64_t taught = 0;
  for (int i = 0; i < 30; ++i)
    taught = k.insist("ffn.1.0", expert_pass::backward, startup_patience) + 1;
  CHECK(taught == 30);
  // The save of every fourth update, with both: guards with replicas of several
  // versions take their turns one after the other.
  REQUIRE(k.await_guards("ffn.1.0", 28, 2));
  k.hosts[1]->process.signal(SIGKILL);
  auto killed = std::chrono::steady_clock::now();
  auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now()
                                         - killed)
        .count();
  };
  // Calls of the others go on.
  CHECK(k.insist("ffn.0.0", expert_pass::backward, startup_patience) == 0);
  CHECK(k.await_files("adopted", 2, 1));
  auto taken_over = since();
  auto version = k.insist("ffn.1.0", expert_pass::forward, startup_patience);
  k.insist("ffn.1.1", expert_pass::forward, startup_patience);
  auto seconds = since();
  MESSAGE("taken over after " << taken_over << " s, answering after " << seconds
                              << " s, at version " << version);
  CHECK(seconds < 30);
  CHECK(version + 4 >= taught);
  CHECK(version <= taught);
}

TEST_CASE("a host that leaves loses nothing of what its experts have learnt") {
  using potluck::expert_pass;
  experts_scene k{2};
  std::uint64_t taught = 0;
  for (int i = 0; i < 7; ++i)
    taught = k.insist("ffn.0.1", expert_pass::backward, startup_patience) + 1;
  CHECK(taught == 7);
  REQUIRE(k.await_files("replicas", 4)); // They know of each other.
  k.hosts[0]->process.signal(SIGINT);
  auto end = k.hosts[0]->process.wait(startup_patience);
  REQUIRE(end.has_value());
  CHECK(end->status == 0);
  CHECK(k.files("adopted", 0) == 2);
  CHECK(k.insist("ffn.0.1", expert_pass::forward, startup_patience) == 7);
}

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
