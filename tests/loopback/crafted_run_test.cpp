/// Runs that a stranger made to do harm to whoever accepts the invitation.

#include "tests/loopback/scene.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "runtime/manifest/invitation.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/support/crafted_tokenizers.hpp"
#include "tests/support/skip.hpp"

using namespace potluck::loopback;

namespace {

/// A run of a stranger, who has signed it, at a bootstrap of its own.
struct strangers_run {
  std::string invitation;
  potluck::charter agreed;
};

potluck::run_settings settings(std::uint32_t vocabulary) {
  potluck::run_settings x;
  x.run = "poems";
  x.own["data"] = {{"vocabulary", std::to_string(vocabulary)},
                   {"sequence-length", "8"},
                   {"mask-probability", "0.15"}};
  x.own["model"] = {{"embedding-size", "8"},
                    {"hidden-size", "8"},
                    {"intermediate-size", "8"},
                    {"layers", "1"},
                    {"heads", "1"}};
  x.target_batch = 64;
  x.steps = 5;
  x.warmup_steps = 1;
  return x;
}

strangers_run lure(scene& s, const potluck::run_settings& settings,
                   const std::string& tokenizer) {
  const auto key = potluck::key_pair::generate();
  const auto signed_one = potluck::unwrap(
      potluck::sign_charter(potluck::charter{settings, tokenizer}, key));
  const auto file = s.path("poems.manifest");
  std::ofstream{file, std::ios::binary} << signed_one.to_bytes();
  auto& hub = s.start("hub", {"bootstrap", "--run", file, "--listen",
                              "127.0.0.1:0", "--identity-dir", s.path("hub"),
                              "--log-json", s.path("hub.jsonl")});
  potluck::invitation to;
  to.name = signed_one.name();
  to.id = signed_one.id();
  to.organiser = signed_one.organiser();
  const auto id = potluck::parse_id<potluck::peer_id>(hub.id());
  REQUIRE(id);
  to.contacts = {{*id, *potluck::parse_address(hub.address())}};
  return {potluck::unwrap(to_text(to)),
          potluck::unwrap(potluck::charter_of(signed_one))};
}

/// What a newcomer says that ends by itself, and not well.
std::string refusal_of(scene& s, const std::string& name, const words& flags) {
  auto& who = s.join(name, flags);
  auto end = who.process.wait(run_patience);
  const auto said = who.process.output();
  INFO(said);
  REQUIRE(end);
  CHECK(end->signal == 0);
  CHECK(end->status != 0);
  CHECK(who.log.named("step").empty());
  return said;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a tokenizer that its parser does not survive costs no newcomer") {
  for (auto& [what, when] : {
           std::pair{"a piece of 200 KB", "while it was read"},
           {"a character map that leads far away", "while it encoded text"},
       }) {
    CAPTURE(what);
    scene s;
    const auto run = lure(s, settings(57),
                          potluck::support::crafted_tokenizers().at(what));
    const auto said = refusal_of(s, "newcomer", {run.invitation});
    if (contains(said, "refuses to confine"))
      return potluck::support::skip(said);
    CAPTURE(said);
    CHECK(contains(said,
                   std::string{"The tokenizer of this run crashed "} + when));
  }
}

TEST_CASE("a run with a model too large for this machine is not joined") {
  scene s;
  const auto run
      = lure(s, settings(57), potluck::support::harmless_tokenizer());
  const auto said
      = refusal_of(s, "newcomer", {run.invitation, "--max-model", "2kB"});
  CAPTURE(said);
  CHECK(contains(said, "allow more with --max-model"));
}

TEST_CASE("a checkpoint whose tokenizer is not the run's is not resumed") {
  scene s;
  const auto run
      = lure(s, settings(57), potluck::support::harmless_tokenizer());
  const potluck::charter forged{
      run.agreed.settings(),
      potluck::support::crafted_tokenizers().at("a piece of 200 KB")};
  const auto file = s.path("forged.checkpoint");
  REQUIRE(potluck::save_checkpoint(file, forged, {}));
  CHECK(contains(refusal_of(s, "newcomer", {run.invitation, "--resume", file}),
                 "are not those of run poems"));
  CHECK(contains(refusal_of(s, "another", {"--resume", file}),
                 "give its invitation"));
}
