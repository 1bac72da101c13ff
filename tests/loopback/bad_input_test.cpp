/// A user's mistake: one sentence that says what is wrong, and status 2.

#include "tests/loopback/scene.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

using namespace potluck::loopback;

namespace {

/// Checks the status, that there is one sentence, and that it names `named`.
void check_refused(const scene::result& x, const words& named) {
  INFO(x.output);
  CHECK(x.status == 2);
  words sentences;
  std::istringstream lines{x.output};
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("potluck: ", 0) == 0 || line.rfind("potluck join: ", 0) == 0)
      sentences.push_back(line);
  REQUIRE(sentences.size() == 1);
  for (auto& word : named) {
    INFO("should name: " << word);
    CHECK(sentences.front().find(word) != std::string::npos);
  }
}

std::string write(scene& s, const std::string& name, const std::string& text) {
  std::ofstream{s.path(name), std::ios::binary} << text;
  return s.path(name);
}

words founding(const std::string& data) {
  return words{"join", "--listen", "127.0.0.1:0", "--data", data}
         + tiny_run(64, 3);
}

} // namespace

TEST_CASE("a flag that nobody knows is refused with the nearest one") {
  scene s;
  check_refused(s.run("a", {"join", "--traget-batch", "256"}),
                {"--traget-batch", "--target-batch"});
  check_refused(s.run("b", {"jion"}), {"jion", "join"});
}

TEST_CASE("text that cannot be trained on is refused") {
  scene s;
  auto with = [&](const std::string& name, const std::string& data) {
    return s.run(name, founding(data) + words{"--identity-dir", s.path("id")});
  };
  check_refused(with("missing", s.path("nowhere.txt")), {"nowhere.txt"});
  check_refused(with("empty", write(s, "empty.txt", "")), {"empty.txt"});
  std::string noise;
  for (int i = 0; i < 5000; ++i)
    noise += static_cast<char>(i * 7919 % 256);
  check_refused(with("binary", write(s, "noise.bin", noise)), {"noise.bin"});
  check_refused(with("short", write(s, "short.txt", "Hello.\n")),
                {"short.txt"});
  check_refused(s.run("none", {"join", "--listen", "127.0.0.1:0"}), {"--data"});
}

TEST_CASE("addresses, roles and numbers that cannot be are refused") {
  scene s;
  auto base = founding(s.text()) + words{"--identity-dir", s.path("id")};
  check_refused(s.run("a", base + words{"--peer", "127.0.0.1"}), {"--peer"});
  check_refused(s.run("b", base + words{"--peer", "127.0.0.1:0"}),
                {"--peer", "port"});
  check_refused(s.run("c", base + words{"--role", "spectator"}),
                {"spectator", "trainer", "auxiliary"});
  check_refused(s.run("d", base + words{"--heads", "5"}),
                {"heads", "hidden-size"});
  // Of a model or an optimizer that is not the one chosen.
  check_refused(s.run("g", base + words{"--expert-grid", "2x2"}),
                {"--expert-grid", "--model=albert-dmoe", "model is albert"});
  check_refused(s.run("h", base + words{"--momentum", "0.5"}),
                {"--momentum", "sgd", "optimizer is lamb"});
  check_refused(s.run("e", base + words{"--shard", "4/4"}), {"--shard"});
  check_refused(s.run("f", base + words{"--target-batch", "0"}),
                {"target-batch"});
}

TEST_CASE("a checkpoint that could never be written is refused at once") {
  scene s;
  auto base = founding(s.text()) + words{"--identity-dir", s.path("id")};
  auto to = [&](const std::string& name, const std::string& path) {
    auto said = s.run(name, base + words{"--checkpoint", path});
    check_refused(said, {"--checkpoint", path});
    CHECK(said.output.find("listening") == std::string::npos);
  };
  to("missing", s.path("nowhere/checkpoint"));
  to("file", write(s, "a-file", "x") + "/checkpoint");
  to("folder", s.path("id"));
}

TEST_CASE("a port in use is refused") {
  scene s;
  auto& holder = s.bootstrap();
  check_refused(s.run("second", {"bootstrap", "--listen", holder.address(),
                                 "--identity-dir", s.path("second")}),
                {holder.address()});
  check_refused(s.run("third", founding(s.text())
                                   + words{"--listen", holder.address(),
                                           "--identity-dir", s.path("third")}),
                {holder.address()});
}

TEST_CASE("a bootstrap peer that is not there is given up in time") {
  scene s;
  auto where = s.bootstrap().address();
  {
    // A port that was somebody's a moment ago and is nobody's now.
    scene other;
    where = other.bootstrap().address();
  }
  auto began = std::chrono::steady_clock::now();
  check_refused(s.run("alone", founding(s.text())
                                   + words{"--peer", where, "--identity-dir",
                                           s.path("alone")}),
                {where});
  // Ten seconds of patience; the rest is starting and ending.
  auto took = std::chrono::steady_clock::now() - began;
  CHECK(took > 9s);
  CHECK(took < 20s);
}

TEST_CASE("a rate for a tensor that the model does not have is refused") {
  scene s;
  const auto x = s.run(
      "a", founding(s.text())
               + words{"--rates", "haed*:2", "--identity-dir", s.path("a")});
  INFO(x.output);
  CHECK(x.status != 0);
  CHECK(x.output.find("rates: this model has no tensor called \"haed*\"")
        != std::string::npos);
}

TEST_CASE("settings that differ from the run's are refused by name") {
  scene s;
  auto& host = s.join("host", tiny_run(64, 1000000));
  auto to_host = words{"join",   "--listen", "127.0.0.1:0", "--data",
                       s.text(), "--peer",   host.address()};
  check_refused(s.run("guest", to_host
                                   + words{"--target-batch", "65",
                                           "--identity-dir", s.path("guest")}),
                {"target-batch", "65", "64"});
  check_refused(s.run("stray", to_host
                                   + words{"--run", "another", "--identity-dir",
                                           s.path("stray")}),
                {"another", "set run to potluck"});
  // Two runs of one name that were founded apart cannot mix.
  auto& other
      = s.join("other", tiny_run(64, 1000000)
                            + words{"--seed", "9", "--checkpoint-every", "1"});
  other.await("checkpoint");
  check_refused(
      s.run("third", to_host
                         + words{"--resume", s.path("other/potluck.checkpoint"),
                                 "--identity-dir", s.path("third")}),
      {"seed", "9"});
  // Nor does it end the run, which was alone all the time.
  host.await_step(host.last_step() + 2);
}

TEST_CASE("an identity that another process holds is refused") {
  scene s;
  auto& holder = s.bootstrap();
  holder.id();
  check_refused(s.run("second", {"bootstrap", "--listen", "127.0.0.1:0",
                                 "--identity-dir", s.path("bootstrap")}),
                {s.path("bootstrap")});
}

TEST_CASE("a checkpoint that is damaged, missing or something else is "
          "refused") {
  scene s;
  auto& p = s.join("p", tiny_run(16, 2));
  check_all_finish({&p});
  std::ifstream in{s.path("p/potluck.checkpoint"), std::ios::binary};
  std::string whole{std::istreambuf_iterator<char>{in}, {}};
  REQUIRE(whole.size() > 1000);
  auto flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  words files{write(s, "flipped", flipped),
              write(s, "truncated", whole.substr(0, whole.size() / 2)),
              s.text(), s.path("nowhere")};
  for (auto& file : files)
    check_refused(
        s.run("eval", {"eval", "--checkpoint", file, "--data", s.text()}),
        {file});
  auto& damaged = files.front();
  check_refused(s.run("resume", founding(s.text())
                                    + words{"--resume", damaged,
                                            "--identity-dir", s.path("r")}),
                {damaged});
  check_refused(s.run("export", {"export", "--checkpoint", damaged, "--output",
                                 s.path("exported")}),
                {damaged});
}
