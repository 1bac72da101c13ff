/// What a run leaves behind, and how it is taken up: on leaving, in several
/// files, behind its end, and as the beginning of another run.

#include "tests/loopback/scene.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>

#include <doctest/doctest.h>

#include "runtime/state/checkpoint.hpp"

using namespace potluck::loopback;
using potluck::load_checkpoint;

namespace {

namespace fs = std::filesystem;

void interrupt(peer& x) {
  x.process.signal(SIGINT);
  auto end = x.process.wait(run_patience);
  INFO(x.process.output());
  REQUIRE(end);
  CHECK(end->status == 0);
}

potluck::checkpoint load(const std::string& path) {
  auto saved = load_checkpoint(path);
  REQUIRE_MESSAGE(saved, saved.error());
  return std::move(*saved);
}

std::string digest_in(const potluck::checkpoint& x) {
  return to_string(digest_of_state(x.state));
}

/// The created run's checkpoint in the identity directory.
std::string checkpoint_in(const std::string& directory) {
  for (const auto& x : fs::directory_iterator(directory))
    if (x.path().extension() == ".checkpoint")
      return x.path();
  FAIL("there is no checkpoint in " << directory);
  return "";
}

bool has(const scene::result& x, const std::string& what) {
  return x.output.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("the last trainer's Ctrl-C leaves a checkpoint of its last step, "
          "from which the run goes on") {
  scene s;
  auto& a = s.join("a", tiny_run(32, 1000000)
                            + words{"--checkpoint-every", "100000"});
  a.await_step(7);
  interrupt(a);
  const auto file = s.path("a/potluck.checkpoint");
  const auto saved = load(file);
  // A step may be made while the peer says goodbye.
  CHECK(saved.state.step >= a.last_step());
  CHECK(saved.state.step <= a.last_step() + 1);
  if (saved.state.step == a.last_step())
    CHECK(digest_in(saved) == a.digests().at(a.last_step()));
  CHECK(a.log.named("checkpoint").back().at("step") == saved.state.step);

  auto& b = s.join("b", {"--resume", file});
  b.await("step");
  CHECK(b.log.named("step").front().at("step") == saved.state.step + 1);
  interrupt(b);
  CHECK(load(s.path("b/potluck.checkpoint")).state.step >= b.last_step());
}

TEST_CASE("the newest checkpoints are kept, listed, shown and compared") {
  scene s;
  auto& a = s.join(
      "a", tiny_run(32, 6)
               + words{"--checkpoint-every", "1", "--checkpoint-keep", "2"});
  check_all_finish({&a});
  const auto newest = s.path("a/potluck.checkpoint");
  const auto older = newest + ".5";
  CHECK(load(newest).state.step == 6);
  CHECK(load(older).state.step == 5);
  CHECK_FALSE(fs::exists(newest + ".4"));

  auto listed = s.run("list", {"checkpoint", "list", s.path("a")});
  INFO(listed.output);
  CHECK(listed.status == 0);
  CHECK(has(listed, newest));
  CHECK(has(listed, older));
  auto usual
      = s.run("usual", {"checkpoint", "list", "--identity-dir", s.path("a")});
  CHECK(usual.output == listed.output);

  auto shown = s.run("show", {"checkpoint", "show", newest});
  CHECK(shown.status == 0);
  CHECK(has(shown, "6 of 6"));
  CHECK(has(shown, digest_in(load(newest))));
  CHECK(has(shown, "albert.embeddings.word_embeddings.weight"));

  auto same = s.run("same", {"checkpoint", "diff", newest, newest});
  CHECK(same.status == 0);
  CHECK(has(same, "the same"));
  auto other = s.run("diff", {"checkpoint", "diff", older, newest});
  CHECK(other.status == 1);
  CHECK(has(other, "step: 5 -> 6"));
  CHECK(has(other, "albert.embeddings.word_embeddings.weight"));
  auto none = s.run("none", {"checkpoint", "show", s.text()});
  CHECK(none.status == 2);
  CHECK(has(none, "is not a checkpoint"));
}

TEST_CASE("a trial that is over says so, and goes on with more steps") {
  scene s;
  auto& a = s.join("a", tiny_run(32, 3));
  check_all_finish({&a});
  const auto file = s.path("a/potluck.checkpoint");
  auto over = s.run("over", {"join", "--data", s.text(), "--resume", file,
                             "--identity-dir", s.path("over")});
  INFO(over.output);
  CHECK(over.status == 2);
  CHECK(has(over, "of step 3 of 3"));
  CHECK(has(over, "--steps NUMBER"));
  CHECK(has(over, "--from"));

  auto& b = s.join("b", {"--resume", file, "--steps", "10"});
  check_all_finish({&b});
  CHECK(b.log.named("step").front().at("step") == 4);
  CHECK(load(s.path("b/potluck.checkpoint")).state.step == 10);
  CHECK(load(file).state.step == 3);
}

TEST_CASE("a new run starts from the parameters of another") {
  scene s;
  auto& a = s.join("a", tiny_run(32, 5));
  check_all_finish({&a});
  const auto file = s.path("a/potluck.checkpoint");
  const auto parameters = load(file).state.parameters;

  SUBCASE("a trial, with settings of its own") {
    auto& b = s.join("b", {"--run", "finer", "--from", file, "--steps",
                           "1000000", "--optimizer", "adam", "--learning-rate",
                           "1e-9", "--target-batch", "16"});
    auto& c = s.join("c", {"--run", "finer", "--peer", b.address()});
    // Enough for a state that one peer gave to be saved.
    check_agree(b, c, 8);
    CHECK(b.log.named("step").front().at("step") == 1);
    for (auto* x : {&b, &c})
      x->process.signal(SIGINT);
    for (auto* x : {&b, &c})
      REQUIRE(x->process.wait(run_patience));
  }
  SUBCASE("one that is created, and joined by invitation") {
    auto made
        = s.run("create", {"create", "finer", "--identity-dir", s.path("b"),
                           "--announce", "127.0.0.1:9", "--from", file,
                           "--steps", "1000000", "--learning-rate", "1e-9"});
    INFO(made.output);
    REQUIRE(made.status == 0);
    const auto text = made.output.substr(0, made.output.size() - 1);
    const auto invitation = text.substr(text.rfind('\n') + 1);
    auto& b = s.join("b", {invitation});
    auto& c = s.join("c", {invitation, "--peer", b.address()});
    // Enough for a state that one peer gave to be saved.
    check_agree(b, c, 8);
    CHECK(b.log.named("step").front().at("step") == 1);
    for (auto* x : {&b, &c})
      x->process.signal(SIGINT);
    for (auto* x : {&b, &c})
      REQUIRE(x->process.wait(run_patience));
  }
  for (const auto* who : {"b", "c"}) {
    const auto finer = load(checkpoint_in(s.path(who)));
    CHECK(finer.state.step >= 8);
    CHECK(finer.charter.settings().steps == 1000000);
    REQUIRE(finer.state.parameters.size() == parameters.size());
    float moved = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      moved = std::max(moved,
                       std::abs(finer.state.parameters[i] - parameters[i]));
    CHECK(moved < 1e-4f); // The rate is next to nothing.
  }
}

TEST_CASE("parameters of another model are refused, with the tensor") {
  scene s;
  auto& a = s.join("a", tiny_run(32, 2));
  check_all_finish({&a});
  const auto file = s.path("a/potluck.checkpoint");
  auto other = s.run("other", {"join", "--run", "finer", "--data", s.text(),
                               "--from", file, "--hidden-size", "64",
                               "--identity-dir", s.path("other")});
  INFO(other.output);
  CHECK(other.status == 2);
  CHECK(has(other, file));
  CHECK(has(other, "albert.encoder"));
  auto none
      = s.run("none", {"join", "--run", "finer", "--data", s.text(), "--from",
                       s.path("nothing"), "--identity-dir", s.path("none")});
  CHECK(none.status == 2);
  CHECK(has(none, s.path("nothing")));
}

TEST_CASE("an organiser has a run go on that is over") {
  scene s;
  const auto create = [&](const words& more) {
    auto x = s.run("create",
                   words{"create", "poems", "--identity-dir", s.path("hub")}
                       + more);
    INFO(x.output);
    REQUIRE(x.status == 0);
    const auto text = x.output.substr(0, x.output.size() - 1);
    return text.substr(text.rfind('\n') + 1);
  };
  auto settings = tiny_run(32, 5);
  settings.erase(std::find(settings.begin(), settings.end(), "--micro-batch"),
                 std::find(settings.begin(), settings.end(), "--target-batch"));
  create(words{"--announce", "127.0.0.1:9", "--data", s.text()} + settings);
  auto& hub = s.start("hub", {"bootstrap", "--run", "poems", "--listen",
                              "127.0.0.1:0", "--identity-dir", s.path("hub"),
                              "--log-json", s.path("hub.jsonl")});
  const auto invitation = create({"--announce", hub.address()});
  auto& a = s.join("a", {invitation});
  check_all_finish({&a});
  const auto file = checkpoint_in(s.path("a"));
  CHECK(load(file).state.step == 5);

  auto& over = s.join("over", {invitation, "--resume", file});
  check_all_finish({&over});
  CHECK(over.process.output().find("potluck amend") != std::string::npos);
  CHECK(over.log.named("step").empty());

  auto amended = s.run("amend", {"amend", invitation, "--identity-dir",
                                 s.path("hub"), "steps", "12"});
  INFO(amended.output);
  CHECK(amended.status == 0);
  auto& b = s.join("b", {invitation, "--resume", file});
  check_all_finish({&b});
  CHECK(b.log.named("step").front().at("step") == 6);
  CHECK(load(checkpoint_in(s.path("b"))).state.step == 12);
}
