/// Whole processes with and without encryption, and with keys that will not do.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "tests/loopback/scene.hpp"

using namespace potluck::loopback;
using namespace std::chrono_literals;

namespace {

words alone(scene& s, const std::string& name) {
  return words{"join",   "--listen",       "127.0.0.1:0", "--data",
               s.text(), "--identity-dir", s.path(name)}
         + tiny_run(64, 3);
}

std::string insecure_bootstrap(scene& s) {
  return s
      .start("plain", {"bootstrap", "--listen", "127.0.0.1:0", "--insecure",
                       "--identity-dir", s.path("plain"), "--log-json",
                       s.path("plain.jsonl")})
      .address();
}

void check_names(const scene::result& x, const words& named) {
  INFO("it printed:\n" << x.output);
  CHECK(x.status == 2);
  for (auto& word : named) {
    INFO("should name: " << word);
    CHECK(x.output.find(word) != std::string::npos);
  }
}

} // namespace

TEST_CASE("peers that all do without encryption finish a run") {
  scene s;
  auto seed = insecure_bootstrap(s);
  std::vector<peer*> all;
  for (auto name : {"a", "b"})
    all.push_back(
        &s.join(name, words{"--insecure", "--peer", seed} + tiny_run(256, 20)));
  check_all_finish(all);
  CHECK(check_equal_digests(all) > 0);
}

TEST_CASE("an encrypted and an insecure peer part with a sentence") {
  scene s;
  auto secure = s.bootstrap().address();
  check_names(s.run("insecure", alone(s, "insecure")
                                    + words{"--insecure", "--peer", secure}),
              {secure, "start both with it, or neither"});
  auto plain = insecure_bootstrap(s);
  check_names(s.run("secure", alone(s, "secure") + words{"--peer", plain}),
              {plain, "insecure"});
}

TEST_CASE("an insecure peer keeps to this machine") {
  scene s;
  check_names(
      s.run("everywhere", {"bootstrap", "--insecure", "--identity-dir",
                           s.path("everywhere")}),
      {"cannot listen on [::]:7000", "insecure", "listen at 127.0.0.1:0"});
  check_names(
      s.run("far", alone(s, "far")
                       + words{"--insecure", "--peer", "203.0.113.1:7000"}),
      {"203.0.113.1:7000", "with insecure only this machine"});
}

TEST_CASE("a peer is the same one as long as it has its key") {
  scene s;
  std::string first;
  {
    auto& p = s.join("p", tiny_run(64, 2));
    check_all_finish({&p});
    first = p.id();
  }
  struct stat status {};
  REQUIRE(stat(s.path("p/identity").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  auto& again
      = s.join("again", words{"--identity-dir", s.path("p")} + tiny_run(64, 2));
  CHECK(again.id() == first);
  check_all_finish({&again});
  REQUIRE(chmod(s.path("p/identity").c_str(), 0644) == 0);
  check_names(s.run("shown", alone(s, "p")),
              {s.path("p/identity"), "run chmod 600 on it"});
  std::ofstream{s.path("p/identity")} << "-----BEGIN PRIVATE KEY-----\n";
  REQUIRE(chmod(s.path("p/identity").c_str(), 0600) == 0);
  check_names(s.run("cut", alone(s, "p")),
              {s.path("p/identity"), "holds no private key"});
  // What an early version left there was no key at all.
  std::ofstream{s.path("p/identity")} << std::string(64, 'a') << "\n";
  check_names(s.run("old", alone(s, "p")),
              {s.path("p/identity"), "holds no private key"});
}
