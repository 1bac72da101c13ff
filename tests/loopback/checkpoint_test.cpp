/// What outlives the processes: checkpoints, and what other programs read.

#include "tests/loopback/scene.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "runtime/state/checkpoint.hpp"
#include "tests/support/await.hpp"

using namespace potluck::loopback;
using nlohmann::json;
using potluck::load_checkpoint;

namespace {

void kill(peer& p) {
  p.process.signal(SIGKILL);
  REQUIRE(p.process.wait(startup_patience));
}

json evaluate(scene& s, const std::string& name, const std::string& file) {
  auto said = s.run(name, {"eval", "--checkpoint", file, "--data", s.text(),
                           "--samples", "128", "--json"});
  INFO(said.output);
  REQUIRE(said.status == 0);
  return json::parse(said.output.substr(said.output.find('{')));
}

} // namespace

TEST_CASE("a run goes on from a checkpoint after everybody was killed") {
  scene s;
  auto settings = tiny_run(128, 1000000) + words{"--checkpoint-every", "5"};
  auto& a = s.join("a", settings);
  auto& b = s.join("b", words{"--peer", a.address()} + settings);
  b.await("checkpoint");
  kill(a);
  kill(b);
  auto file = s.path("b/potluck.checkpoint");
  auto saved = load_checkpoint(file);
  REQUIRE(static_cast<bool>(saved));
  auto step = saved->state.step;
  CHECK(step >= 5);
  CHECK(to_string(digest_of_state(saved->state)) == b.digests().at(step));

  auto& c = s.join("c", {"--resume", file});
  auto& d = s.join("d", {"--peer", c.address()});
  check_agree(c, d, 5);
  CHECK(c.log.named("step").front().at("step") == step + 1);
  CHECK(d.log.named("step").front().at("step") > step);
}

TEST_CASE("whoever resumes a checkpoint shows newcomers the steps that led "
          "there") {
  scene s;
  const words often{"--checkpoint-every", "5"};
  auto& a = s.join("a", tiny_run(128, 1000000) + often);
  const auto file = s.path("a/potluck.checkpoint");
  const auto has_history = [&] {
    const auto there = load_checkpoint(file);
    return there && !there->history.empty();
  };
  REQUIRE(potluck::support::await(has_history, startup_patience));
  kill(a);
  const auto saved = load_checkpoint(file);
  REQUIRE(static_cast<bool>(saved));
  REQUIRE_FALSE(saved->history.empty());
  CHECK(saved->history.back().step <= saved->state.step);

  // The same peer, whose steps go on from the last one that it has signed.
  auto& again = s.join(
      "again", words{"--resume", file, "--identity-dir", s.path("a")} + often);
  auto& guest = s.join(
      "guest", words{"--peer", again.id() + "@" + again.address()} + often);
  const auto shown = guest.await("history");
  CHECK(shown.at("since") == saved->history.front().step);
  CHECK(shown.at("makers") == 1);
  check_agree(again, guest, 3);
}

TEST_CASE("kill -9 at any moment leaves a checkpoint that can be loaded") {
  scene s;
  // Large enough that writing it takes a while.
  auto settings = words{"--listen",
                        "127.0.0.1:0",
                        "--checkpoint-every",
                        "1",
                        "--layers",
                        "1",
                        "--hidden-size",
                        "256",
                        "--heads",
                        "2",
                        "--embedding-size",
                        "128",
                        "--intermediate-size",
                        "1024",
                        "--sequence-length",
                        "8",
                        "--vocabulary",
                        "300",
                        "--target-batch",
                        "4",
                        "--micro-batch",
                        "4",
                        "--steps",
                        "1000000"};
  auto file = s.path("here.checkpoint");
  std::uint64_t last = 0;
  for (std::size_t round = 0; round < 6; ++round) {
    INFO("kill number " << round);
    auto flags = words{"--checkpoint", file};
    if (round > 0)
      flags = flags + words{"--resume", file};
    auto& p = s.join("peer" + std::to_string(round), settings + flags);
    // One whole checkpoint, then the middle of some later one: steps and
    // checkpoints follow each other without a pause.
    auto seen = p.await("checkpoint");
    CHECK(seen.at("problem") == "");
    for (std::size_t i = 0; i <= round; ++i)
      p.await("step", startup_patience, p.log.lines().size());
    kill(p);
    auto saved = load_checkpoint(file);
    INFO((saved ? "" : saved.error()));
    REQUIRE(static_cast<bool>(saved));
    CHECK(saved->state.step >= seen.at("step").get<std::uint64_t>());
    CHECK(saved->state.step > last);
    last = saved->state.step;
  }
}

TEST_CASE("a last checkpoint that cannot be written lies beside the identity, "
          "and the status says so") {
  scene s;
  std::filesystem::create_directory(s.path("out"));
  auto& p = s.join("p", tiny_run(64, 40)
                            + words{"--checkpoint-every", "0", "--checkpoint",
                                    s.path("out/checkpoint")});
  p.await("listening");
  std::filesystem::remove_all(s.path("out"));
  auto end = p.process.wait(run_patience);
  REQUIRE(end);
  CHECK(end->status == 1);
  auto rescued = s.path("p/potluck.checkpoint");
  for (auto& word : {s.path("out/checkpoint"), rescued})
    CHECK(p.process.output().find(word) != std::string::npos);
  CHECK(p.log.named("checkpoint").front().at("path") == rescued);
  auto saved = load_checkpoint(rescued);
  REQUIRE(static_cast<bool>(saved));
  CHECK(saved->state.step == 40);
}

TEST_CASE("a trained checkpoint predicts better than an untrained one, and "
          "exports what other programs read") {
  scene s;
  auto untrained = s.path("untrained.checkpoint");
  auto trained = s.path("trained.checkpoint");
  auto& before = s.join("before", tiny_run(16, 1)
                                      + words{"--learning-rate", "1e-12",
                                              "--checkpoint", untrained});
  auto& after = s.join(
      "after", tiny_run(32, 80)
                   + words{"--learning-rate", "0.02", "--checkpoint", trained});
  check_all_finish({&before, &after});
  auto worse = evaluate(s, "eval-before", untrained);
  auto better = evaluate(s, "eval-after", trained);
  CHECK(worse.at("step") == 1);
  CHECK(better.at("step") == 80);
  // An untrained model of 300 tokens knows nothing: ln 300 = 5.70.
  CHECK(worse.at("loss").get<double>() > 5.4);
  CHECK(better.at("loss").get<double>() < worse.at("loss").get<double>() - 0.5);
  CHECK(better.at("accuracy").get<double>()
        > worse.at("accuracy").get<double>());

  auto spoken = s.run("eval-text", {"eval", "--checkpoint", trained, "--data",
                                    s.text(), "--samples", "16"});
  CHECK(spoken.status == 0);
  CHECK(spoken.output.find("loss") != std::string::npos);
  CHECK(spoken.output.find("accuracy") != std::string::npos);

  auto exported = s.run("export", {"export", "--checkpoint", trained,
                                   "--output", s.path("exported")});
  INFO(exported.output);
  REQUIRE(exported.status == 0);
  std::ifstream config{s.path("exported/config.json")};
  auto parsed = json::parse(config);
  CHECK(parsed.at("hidden_size") == 32);
  CHECK(parsed.at("model_type") == "albert");
  CHECK(std::filesystem::file_size(s.path("exported/spiece.model")) > 0);

  // Eight bytes of length, a JSON header, and as many values as it promises.
  std::ifstream file{s.path("exported/model.safetensors"), std::ios::binary};
  std::uint64_t length = 0;
  for (int shift = 0; shift < 64; shift += 8)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(file.get()))
              << shift;
  std::string header(length, ' ');
  REQUIRE(file.read(header.data(), static_cast<std::streamsize>(length)));
  std::uint64_t end = 0;
  std::size_t tensors = 0;
  auto described = json::parse(header);
  for (auto& [name, tensor] : described.items()) {
    if (name == "__metadata__")
      continue;
    ++tensors;
    CHECK(tensor.at("dtype") == "F32");
    end = std::max(end, tensor.at("data_offsets").at(1).get<std::uint64_t>());
  }
  CHECK(tensors > 10);
  CHECK(std::filesystem::file_size(s.path("exported/model.safetensors"))
        == 8 + length + end);
}
