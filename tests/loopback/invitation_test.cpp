/// `potluck create`, and who joins by the invitation that it prints.
#include "tests/loopback/scene.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// Of `tiny_run`, what a charter has.
words settings(std::uint64_t target_batch, std::uint64_t steps) {
  auto all = tiny_run(target_batch, steps);
  auto micro = std::find(all.begin(), all.end(), "--micro-batch");
  all.erase(micro, micro + 2);
  return all;
}

/// Runs `potluck create poems` in this identity directory; the last line.
std::string create(scene& s, const std::string& directory, const words& more) {
  auto x = s.run("create",
                 words{"create", "poems", "--identity-dir", s.path(directory)}
                     + more);
  CAPTURE(x.output);
  REQUIRE(x.status == 0);
  auto text = x.output.substr(0, x.output.size() - 1);
  text = text.substr(text.rfind('\n') + 1);
  REQUIRE(text.find("potluck:") == 0);
  return text;
}

words new_run(scene& s, std::uint64_t steps) {
  return words{"--announce", "127.0.0.1:9", "--data", s.text()}
         + settings(64, steps);
}

/// Waits until the peer says this of what it waits for.
void await_fault(peer& who, const std::string& detail) {
  auto found = who.log.await(
      [&](const json& x) {
        return x.at("event") == "fault"
               && x.value("detail", "").find(detail) != std::string::npos;
      },
      startup_patience);
  INFO(who.process.output());
  CHECK(!found.is_null());
}

std::string run_of(peer& who) {
  auto charter = who.await("charter");
  CHECK(charter.at("founded") == false);
  return charter.at("run");
}

} // namespace

TEST_CASE("a created run is joined by its invitation, and by no other's") {
  scene s;
  create(s, "hub", new_run(s, 30));
  auto& hub = s.start("hub", {"bootstrap", "--run", "poems", "--listen",
                              "127.0.0.1:0", "--identity-dir", s.path("hub"),
                              "--log-json", s.path("hub.jsonl")});
  // The same run once more, now that its address is known.
  const auto invitation = create(s, "hub", {"--announce", hub.address()});
  // Somebody else's run of the same name, at the same bootstrap.
  const auto others = create(
      s, "elsewhere",
      words{"--peer", hub.id() + "@" + hub.address(), "--data", s.text()}
          + settings(64, 30));
  CHECK(others != invitation);
  auto& stranger = s.join("stranger", {others, "--micro-batch", "4"});
  std::vector<peer*> all;
  for (auto name : {"a", "b"})
    all.push_back(&s.join(name, {invitation, "--micro-batch", "4"}));
  const auto run = run_of(*all[0]);
  CHECK(run.find("poems@") == 0);
  CHECK(run_of(*all[1]) == run);
  check_all_finish(all);
  CHECK(check_equal_digests(all) > 0);
  await_fault(stranger, "has the manifest of run poems (");
  CHECK(stranger.log.named("charter").empty());
  CHECK(stranger.log.named("step").empty());
  for (auto& fault : hub.log.named("fault")) // Its part in the run says no.
    CHECK(fault.at("what").get<std::string>().find("refused ") == 0);
}

TEST_CASE("an organiser trains without a bootstrap, and others join") {
  scene s;
  const auto first = create(s, "a", new_run(s, 1000000));
  auto& a = s.join("a", {first, "--micro-batch", "4"});
  const auto run = run_of(a);
  const auto invitation = create(s, "a", {"--announce", a.address()});
  auto& b = s.join("b", {invitation, "--micro-batch", "4"});
  CHECK(run_of(b) == run);
  check_agree(a, b, 5);
}

TEST_CASE("where another answers than was named, nobody is joined") {
  scene s;
  auto& host = s.bootstrap();
  const auto joins = [&](const std::string& name, const std::string& id) {
    return &s.join(name,
                   words{"--run", "verse", "--peer", id + "@" + host.address()}
                       + tiny_run(64, 10));
  };
  auto wrong = joins("wrong", std::string(64, '7'));
  check_all_finish({joins("right", host.id())});
  auto end = wrong->process.wait(startup_patience);
  INFO(wrong->process.output());
  REQUIRE(end);
  CHECK(end->status == 2);
  CHECK(wrong->process.output().find("another peer answers there")
        != std::string::npos);
  CHECK(wrong->log.named("join").empty());
}

TEST_CASE("a mistake with a created run is one sentence") {
  scene s;
  const auto invitation = create(s, "home", new_run(s, 40));
  auto typo = invitation;
  typo[100] = typo[100] == 'q' ? 'p' : 'q';
  const words join{"join", "--data", s.text(), "--identity-dir", s.path("a")};
  const words again{"create", "poems", "--identity-dir", s.path("home")};
  const words fresh{"create", "verse", "--identity-dir", s.path("home")};
  for (auto& [said, answer] : {
           std::pair<words, std::string>{join + words{typo}, "character 101"},
           {join + words{invitation.substr(0, 90)}, "no sound invitation"},
           {join + words{"poems"}, "does not begin with potluck:"},
           {join + words{invitation, "--run", "poems"}, "leave --run out"},
           {again + words{"--announce", "127.0.0.1:9", "--steps", "7"},
            "never changes"},
           {again, "--announce"},
           {again + words{"--peer", "127.0.0.1:9"}, "needs the id"},
           {again + words{"--peer", "7@127.0.0.1:9"}, "peer's id"},
           {fresh + words{"--announce", "127.0.0.1:9"}, "--data"},
           {{"create", "a b", "--identity-dir", s.path("home")}, "no name"},
           {{"create"}, "potluck create NAME"},
           {{"bootstrap", "--run", s.path("none.manifest")}, "no manifest"},
       }) {
    auto x = s.run("mistaken", said);
    CAPTURE(x.output);
    CAPTURE(answer);
    CHECK(x.status == 2);
    CHECK(x.output.find(answer) != std::string::npos);
  }
}
