#include "tools/lab/judge/run_invariants.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

run_invariants::rules usual() {
  run_invariants::rules x;
  x.target_batch = 100;
  x.honest = {"aaaa"};
  return x;
}

event step(std::uint64_t number, std::uint64_t history,
           const std::string& digest = "d", std::uint64_t samples = 100) {
  return {"step",
          {{"step", number},
           {"digest", digest},
           {"samples", samples},
           {"loss", 0.5},
           {"history_samples", history}}};
}

event fault(const std::string& peer, const std::string& what,
            const std::string& detail) {
  return {"fault", {{"peer", peer}, {"what", what}, {"detail", detail}}};
}

event round(const std::string& group, std::uint64_t step, bool committed) {
  return {"round",
          {{"group", group},
           {"step", step},
           {"outcome", std::string{committed ? "committed" : "aborted"}}}};
}

} // namespace

TEST_CASE("two peers that take the same steps violate nothing") {
  run_invariants x{usual()};
  for (std::uint64_t i = 1; i <= 3; ++i)
    for (std::size_t peer : {0u, 1u})
      x.told(peer, 1s * i, step(i, 100 * i, "d" + std::to_string(i)));
  CHECK(x.violations().empty());
  CHECK(x.checks() > 0);
  CHECK(x.highest_step() == 3);
  CHECK(x.longest_history() == 300);
  CHECK(x.last_progress() == 3s);
  CHECK(x.splits() == 0);
}

TEST_CASE("a step with too few samples is a violation") {
  run_invariants x{usual()};
  x.told(0, 1s, step(1, 99, "d", 99));
  CHECK(x.violations().size() == 1);
}

TEST_CASE("a step that is left out, or taken twice, is a violation") {
  for (std::uint64_t next : {1u, 3u}) {
    run_invariants x{usual()};
    x.told(0, 1s, step(1, 100));
    x.told(0, 2s, step(next, 200));
    CHECK(x.violations().size() >= 1);
  }
}

TEST_CASE("a download or another process begins anew") {
  run_invariants x{usual()};
  x.told(0, 1s, step(1, 100));
  x.told(0, 2s, {"state_download", {{"step", std::uint64_t{7}}}});
  x.told(0, 3s, step(8, 800));
  x.process_ended(0);
  x.told(0, 4s, step(12, 1200));
  CHECK(x.violations().empty());
}

TEST_CASE("a history that grows by other samples than the step's is wrong") {
  run_invariants x{usual()};
  x.told(0, 1s, step(1, 100));
  x.told(0, 2s, step(2, 250));
  CHECK(x.violations().size() == 1);
}

TEST_CASE("other parameters at one step are wrong, unless a run may split") {
  for (bool may : {false, true}) {
    auto rules = usual();
    rules.may_split = may;
    run_invariants x{rules};
    x.told(0, 1s, step(1, 100, "one"));
    x.told(1, 1s, step(1, 100, "two"));
    CHECK(x.violations().empty() == may);
    CHECK(x.splits() == 1);
  }
}

TEST_CASE("members of one round never hold other parameters") {
  auto rules = usual();
  rules.may_split = true;
  run_invariants x{rules};
  for (std::size_t peer : {0u, 1u}) {
    x.told(peer, 1s, round("g", 1, true));
    x.told(peer, 1s, step(1, 100, peer == 0 ? "one" : "two"));
  }
  CHECK(x.violations().size() == 1);
}

TEST_CASE("a mean counts each sample once") {
  run_invariants x{usual()};
  x.tally_seen(0, 1s, 1.00001f);
  CHECK(x.violations().empty());
  x.tally_seen(0, 1s, 1.01f);
  CHECK(x.violations().size() == 1);
}

TEST_CASE("honest peers are not accused, hostile ones may be") {
  for (auto what : {"bad data", "bad donor"}) {
    run_invariants x{usual()};
    auto detail = "its pieces do not make the state that most report";
    x.told(0, 1s, fault("bbbb", what, detail));
    CHECK(x.violations().empty());
    x.told(0, 1s, fault("aaaa", what, detail));
    CHECK(x.violations().size() == 1);
    x.no_longer_honest("aaaa");
    x.told(0, 1s, fault("aaaa", what, detail));
    CHECK(x.violations().size() == 1);
  }
}

TEST_CASE("a history ends with the last process that holds a step of it") {
  for (bool somebody_stays : {false, true}) {
    CAPTURE(somebody_stays);
    run_invariants x{usual()};
    for (std::size_t peer : {0u, 1u}) {
      x.told(peer, 1s, round("g", 1, true));
      x.told(peer, 1s, step(1, 100, "one"));
    }
    x.told(2, 1s, round("h", 2, false)); // Holds no step.
    x.process_ended(0);
    if (!somebody_stays)
      x.process_ended(1);
    x.told(0, 9s, round("i", 1, true));
    x.told(0, 9s, step(1, 100, "two"));
    CHECK(x.violations().empty() == !somebody_stays);
    CHECK(x.splits() == (somebody_stays ? 1 : 0));
    // Both rounds of step 1 were first tries, each of its history.
    CHECK(x.first_try() == doctest::Approx(somebody_stays ? 0 : 1));
    CHECK(x.longest_history() == 100);
    CHECK(x.last_progress() == (somebody_stays ? 1s : 9s));
  }
}

TEST_CASE("the share of first tries counts committed steps with one group") {
  run_invariants x{usual()};
  CHECK(x.first_try() == 1);
  x.told(0, 1s, round("a", 1, true));
  x.told(0, 2s, round("b", 2, false));
  x.told(0, 3s, round("c", 2, true));
  CHECK(x.first_try() == doctest::Approx(0.5));
}

TEST_CASE("redrawn groups hold different parameters, but begin their step with "
          "the same, and count a part of the batch") {
  auto rules = usual();
  rules.most_drift = 0.1;
  for (bool same : {true, false}) {
    run_invariants x{rules};
    for (std::size_t peer : {0u, 1u}) {
      auto news = step(1, 100, peer == 0 ? "one" : "two", 30);
      news.fields.push_back(
          {"averaged", std::string{same || peer == 0 ? "mean" : "other"}});
      x.told(peer, 1s, round("g", 1, true));
      x.told(peer, 1s, news);
    }
    CHECK(x.violations().empty() == same);
    CHECK(x.splits() == 0);
    auto next = step(2, 230, "one", 30); // Not by what its group has.
    next.fields.push_back({"averaged", std::string{"mean"}});
    x.told(0, 2s, next);
    CHECK(x.violations().size() == (same ? 1 : 2));
  }
}

TEST_CASE("peers of redrawn groups stay near each other at every step") {
  auto rules = usual();
  rules.most_drift = 0.1;
  run_invariants x{rules};
  x.parameters_seen(0, 1s, 1, {3, 4});
  x.parameters_seen(1, 1s, 2, {30, 40}); // Another step is no matter.
  x.parameters_seen(1, 1s, 1, {3, 4.4f});
  CHECK(x.violations().empty());
  CHECK(x.drift() == doctest::Approx(0.4 / 5.325).epsilon(0.01));
  x.parameters_seen(2, 1s, 1, {3, 3});
  REQUIRE(x.violations().size() == 1);
  CHECK(x.violations()[0].find("apart") != std::string::npos);
  // Who has left is compared with nobody, and exact runs have no drift.
  x.process_ended(0);
  run_invariants exact{usual()};
  exact.parameters_seen(0, 1s, 1, {1});
  exact.parameters_seen(1, 1s, 1, {2});
  CHECK(exact.drift() == 0);
  CHECK(exact.violations().empty());
}
