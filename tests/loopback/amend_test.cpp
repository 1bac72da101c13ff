/// `potluck amend`: what an organiser says, all peers of the run go by.
#include "tests/loopback/scene.hpp"

#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/await.hpp"

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// Of `tiny_run`, what a charter has: no run that ends by itself.
words settings() {
  auto all = tiny_run(64, 1000000);
  auto micro = std::find(all.begin(), all.end(), "--micro-batch");
  all.erase(micro, micro + 2);
  return all + words{"--keep-every", "10", "--keep-states", "5"};
}

/// A created run with its bootstrap and some trainers.
struct amended_run {
  /// @param more Settings.
  explicit amended_run(std::size_t trainers, const words& more = {}) {
    if (!more.empty())
      others = key("others");
    auto own = more;
    for (auto& x : own)
      if (x == "2/KEY")
        x = "2/" + others;
    create(words{"--announce", "127.0.0.1:9", "--data", s.text()} + own);
    hub = &s.start("hub", {"bootstrap", "--run", "poems", "--listen",
                           "127.0.0.1:0", "--identity-dir", s.path("hub"),
                           "--log-json", s.path("hub.jsonl")});
    invitation = create({"--announce", hub->address()});
    for (std::size_t i = 0; i < trainers; ++i)
      all.push_back(&s.join(std::string(1, static_cast<char>('a' + i)),
                            {invitation, "--micro-batch", "4"}));
    for (auto* x : all)
      x->await_step(5);
  }

  /// The public half of an organiser's key in that folder.
  std::string key(const std::string& name) {
    auto made
        = s.run("create", {"create", "other", "--identity-dir", s.path(name),
                           "--announce", "127.0.0.1:9", "--data", s.text()});
    CAPTURE(made.output);
    REQUIRE(made.status == 0);
    return s.run("amend", {"amend", "key", "--identity-dir", s.path(name)})
        .output.substr(0, 64);
  }
  std::string create(const words& more) {
    auto known = std::filesystem::exists(s.path("hub/poems.manifest"));
    auto x = s.run("create",
                   words{"create", "poems", "--identity-dir", s.path("hub")}
                       + more + (known ? words{} : settings()));
    CAPTURE(x.output);
    REQUIRE(x.status == 0);
    auto text = x.output.substr(0, x.output.size() - 1);
    return text.substr(text.rfind('\n') + 1);
  }
  scene::result amend(const words& what) {
    return s.run("amend",
                 words{"amend", invitation, "--identity-dir", s.path("hub")}
                     + what);
  }
  /// @returns The step from which it holds; 0: at once.
  std::uint64_t amends(const words& what) {
    auto x = amend(what);
    CAPTURE(x.output);
    REQUIRE(x.status == 0);
    CHECK(x.output.find("hold it") != std::string::npos);
    const std::string before = "(from step ";
    const auto at = x.output.find(before);
    return at == std::string::npos
               ? 0
               : std::stoull(x.output.substr(at + before.size()));
  }
  /// The last step after which all hold one state; 0: there is none.
  std::uint64_t last_agreed() {
    auto same = all[0]->digests();
    for (auto* x : all) {
      const auto theirs = x->digests();
      for (auto i = same.begin(); i != same.end();) {
        const auto at = theirs.find(i->first);
        i = at != theirs.end() && at->second == i->second ? std::next(i)
                                                          : same.erase(i);
      }
    }
    return same.empty() ? 0 : same.rbegin()->first;
  }
  /// Until nobody makes a step any more; the last one.
  std::uint64_t await_pause() {
    for (std::uint64_t last = 0;;) {
      std::uint64_t now = 0;
      for (auto* x : all) {
        x->log.await([](const json&) { return false; }, 700ms);
        now = std::max(now, x->last_step());
      }
      if (now == last)
        return now;
      last = now;
    }
  }

  scene s;
  peer* hub = nullptr;
  std::string invitation;
  std::string others; ///< The key of another organiser; empty: there is none.
  std::vector<peer*> all;
};

} // namespace

TEST_CASE("an organiser pauses a run, goes on, and gives it another end") {
  amended_run run{2};
  auto none = run.amend({"list"});
  CHECK(none.status == 0);
  CHECK(none.output.find("never amended") != std::string::npos);

  const auto at = run.amends({"pause", "--reason", "The disk is full."});
  const auto last = run.await_pause();
  CHECK(last + 1 == at);
  for (auto* x : run.all)
    CHECK(x->last_step() == last);
  const auto end = last + 50;
  run.amends({"steps", std::to_string(end)});
  run.amends({"resume"});
  check_all_finish(run.all);
  CHECK(check_equal_digests(run.all) > 0);
  for (auto* x : run.all) {
    CHECK(x->last_step() == end);
    auto told = x->log.named("amendment");
    REQUIRE(told.size() == 3);
    CHECK(told[0].at("reason") == "The disk is full.");
    CHECK(told[1].at("what")
          == "The run ends after step " + std::to_string(end) + ".");
  }
}

TEST_CASE("an organiser finishes a run, and who comes later hears of it") {
  amended_run run{2};
  run.amends({"finish"});
  check_all_finish(run.all);
  CHECK(check_equal_digests(run.all) > 0);
  auto list = run.amend({"list"});
  CHECK(list.status == 0);
  CHECK(list.output.find("The run ends with step "
                         + std::to_string(run.all[0]->last_step()))
        != std::string::npos);
}

TEST_CASE("whom an organiser bans is out, and the others go on") {
  amended_run run{3};
  auto& bad = *run.all[2];
  run.amends({"ban", bad.id()});
  auto end = bad.process.wait(startup_patience);
  INFO(bad.process.output());
  REQUIRE(end);
  CHECK(end->status == 1);
  CHECK(bad.process.output().find("has banned this peer") != std::string::npos);
  run.all.pop_back();
  run.all[0]->await_step(run.all[0]->last_step() + 20);
  check_agree(*run.all[0], *run.all[1], 5);
  // It is not let in again.
  auto& again = run.s.join("c", {run.invitation, "--micro-batch", "4"});
  auto refused = again.process.wait(startup_patience);
  INFO(again.process.output());
  REQUIRE(refused);
  CHECK(refused->status == 1);
  CHECK(again.process.output().find("has banned this peer")
        != std::string::npos);
}

TEST_CASE("an organiser rolls a run of four peers back by twenty steps") {
  amended_run run{4};
  // On a busy machine they may train apart at first.
  std::uint64_t since = 0;
  REQUIRE(potluck::support::await(
      [&] {
        since = run.last_agreed();
        return since + 10 > run.all[0]->last_step();
      },
      startup_patience));
  for (auto* x : run.all)
    x->await_step(since + 45);
  run.amends({"pause"});
  const auto last = run.await_pause();
  const auto to = (last - 20) / 10 * 10;
  const auto then = run.all[0]->digests().at(to);
  // They say which state that was.
  const auto asked = run.amend({"rollback", std::to_string(to)});
  CAPTURE(asked.output);
  CHECK(asked.status == 2);
  CHECK(asked.output.find(" members that keep a state of step "
                          + std::to_string(to) + " keep digest " + then)
        != std::string::npos);
  CHECK(asked.output.find("Nothing was changed") != std::string::npos);
  // One of them has lost what it kept.
  for (auto& entry : std::filesystem::directory_iterator{run.s.path("d")})
    if (entry.path().extension() == ".states")
      std::filesystem::remove_all(entry.path());
  std::vector<std::size_t> lines;
  for (auto* x : run.all)
    lines.push_back(x->log.lines().size());
  run.amends({"rollback", std::to_string(to), "--digest", then});
  for (std::size_t i = 0; i < 3; ++i) {
    auto back = run.all[i]->await("rolled_back", startup_patience, lines[i]);
    CHECK(back.at("step") == to);
    CHECK(back.at("digest") == then);
  }
  auto fetched
      = run.all[3]->await("state_download", startup_patience, lines[3]);
  CHECK(fetched.at("step") == to);
  CHECK(fetched.at("digest") == then);
  run.amends({"resume"});
  for (std::size_t i = 0; i < 4; ++i) {
    auto next = run.all[i]->log.await(
        [](const json& x) { return x.at("event") == "step"; }, startup_patience,
        lines[i]);
    REQUIRE_FALSE(next.is_null());
    CHECK(next.at("step") == to + 1);
  }
  for (std::size_t i = 1; i < 4; ++i)
    check_agree(*run.all[0], *run.all[i], 10, lines[i], lines[0]);
}

TEST_CASE("what two organisers have to sign counts with both signatures") {
  amended_run run{1, {"--successor", "2/KEY"}};
  const auto file = run.s.path("draft");
  auto one = run.amend({"finish", "--at", "1000000", "--out", file});
  CAPTURE(one.output);
  CHECK(one.status == 0);
  CHECK(one.output.find("1 of 2 signatures") != std::string::npos);
  CHECK(run.all[0]->log.named("amendment").empty());
  auto again = run.amend({"sign", file});
  CHECK(again.status == 2);
  CHECK(again.output.find("has been signed with this key")
        != std::string::npos);
  auto two = run.amend({"sign", file, "--key", run.s.path("others/organiser")});
  CAPTURE(two.output);
  CHECK(two.status == 0);
  CHECK(two.output.find("hold it") != std::string::npos);
  CHECK(run.all[0]->await("amendment").at("number") == 1);
}

TEST_CASE("a mistake with an amendment is one sentence") {
  amended_run run{1};
  auto x = run.s.run("others",
                     {"create", "verse", "--identity-dir", run.s.path("others"),
                      "--peer", run.hub->id() + "@" + run.hub->address(),
                      "--data", run.s.text()});
  REQUIRE(x.status == 0);
  const auto others = run.s.path("others/organiser");
  for (auto& [said, answer] : {
           std::pair<words, std::string>{{"finish", "--key", others},
                                         "not the organiser's"},
           {{"rollback", "7"}, "No member that answers keeps"},
           {{"finish", "--key", run.s.path("none")}, "no organiser's key"},
           {{"steps"}, "one whole number"},
           {{"steps", "many"}, "one whole number"},
           {{"steps", "1"}, "cannot end after step 1"},
           {{"pause", "--at", "1"}, "already"},
           {{"pause", "--at", "2000000"}, "before this would hold"},
           {{"ban", "7"}, "no peer's id"},
           {{"ban"}, "Say whom"},
           {{"rollback", "10", "--digest", "7"}, "no state's digest"},
           {{"admission", "closed"}, "admission open"},
           {{"layers", "7"}, "nothing that can be amended"},
           {{}, "Say what changes"},
       }) {
    auto result = run.amend(said);
    CAPTURE(result.output);
    CAPTURE(answer);
    CHECK(result.status == 2);
    CHECK(result.output.find(answer) != std::string::npos);
  }
  CHECK(run.all[0]->log.named("amendment").empty());
}
