#include "tools/lab/judge/run_judge.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

terms usual() {
  terms x;
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
  run_judge x{usual()};
  for (std::uint64_t i = 1; i <= 3; ++i)
    for (std::size_t peer : {0u, 1u})
      x.told({peer}, 1s * i, step(i, 100 * i, "d" + std::to_string(i)));
  CHECK(x.all().violations().empty());
  CHECK(x.all().checks() > 0);
  CHECK(x.how_far().highest_step() == 3);
  CHECK(x.how_far().longest_history() == 300);
  CHECK(x.how_far().last_progress() == 3s);
  CHECK(x.of<equal_states>().splits() == 0);
}

TEST_CASE("a step with too few samples is a violation") {
  run_judge x{usual()};
  x.told({0}, 1s, step(1, 99, "d", 99));
  CHECK(x.all().violations().size() == 1);
}

TEST_CASE("a step that is left out, or taken twice, is a violation") {
  for (std::uint64_t next : {1u, 3u}) {
    run_judge x{usual()};
    x.told({0}, 1s, step(1, 100));
    x.told({0}, 2s, step(next, 200));
    CHECK(x.all().violations().size() >= 1);
  }
}

TEST_CASE("a download or another process begins anew") {
  run_judge x{usual()};
  x.told({0}, 1s, step(1, 100));
  x.told({0}, 2s,
         {"state_download",
          {{"step", std::uint64_t{7}}, {"digest", std::string{"d7"}}}});
  x.told({0}, 3s, step(8, 800));
  x.ended({0});
  x.told({0}, 4s, step(12, 1200));
  CHECK(x.all().violations().empty());
}

TEST_CASE("a history that grows by other samples than the step's is wrong") {
  run_judge x{usual()};
  x.told({0}, 1s, step(1, 100));
  x.told({0}, 2s, step(2, 250));
  CHECK(x.all().violations().size() == 1);
}

TEST_CASE("other parameters at one step are wrong, unless a run may split") {
  for (bool may : {false, true}) {
    auto rules = usual();
    rules.expects.may_split = may;
    run_judge x{rules};
    x.told({0}, 1s, step(1, 100, "one"));
    x.told({1}, 1s, step(1, 100, "two"));
    CHECK(x.all().violations().empty() == may);
    CHECK(x.of<equal_states>().splits() == 1);
  }
}

TEST_CASE("members of one round never hold other parameters") {
  auto rules = usual();
  rules.expects.may_split = true;
  run_judge x{rules};
  for (std::size_t peer : {0u, 1u}) {
    x.told({peer}, 1s, round("g", 1, true));
    x.told({peer}, 1s, step(1, 100, peer == 0 ? "one" : "two"));
  }
  CHECK(x.all().violations().size() == 1);
}

TEST_CASE("a mean counts each sample once") {
  run_judge x{usual()};
  x.of<counted_once>().tally({0}, 1s, 1.00001f);
  CHECK(x.all().violations().empty());
  x.of<counted_once>().tally({0}, 1s, 1.01f);
  CHECK(x.all().violations().size() == 1);
}

TEST_CASE("honest peers are not accused, hostile ones may be") {
  for (auto what : {"bad data", "bad donor"}) {
    run_judge x{usual()};
    auto detail = "its pieces do not make the state that it lists";
    x.told({0}, 1s, fault("bbbb", what, detail));
    CHECK(x.all().violations().empty());
    x.told({0}, 1s, fault("aaaa", what, detail));
    CHECK(x.all().violations().size() == 1);
    x.of<fair_blame>().no_longer_honest("aaaa");
    x.told({0}, 1s, fault("aaaa", what, detail));
    CHECK(x.all().violations().size() == 1);
  }
}

TEST_CASE("a history ends with the last process that holds a step of it") {
  for (bool somebody_stays : {false, true}) {
    CAPTURE(somebody_stays);
    run_judge x{usual()};
    for (std::size_t peer : {0u, 1u}) {
      x.told({peer}, 1s, round("g", 1, true));
      x.told({peer}, 1s, step(1, 100, "one"));
    }
    x.told({2}, 1s, round("h", 2, false)); // Holds no step.
    x.ended({0});
    if (!somebody_stays)
      x.ended({1});
    x.told({0}, 9s, round("i", 1, true));
    x.told({0}, 9s, step(1, 100, "two"));
    CHECK(x.all().violations().empty() == !somebody_stays);
    CHECK(x.of<equal_states>().splits() == (somebody_stays ? 1 : 0));
    // Both rounds of step 1 were first tries, each of its history.
    CHECK(x.how_far().first_try() == doctest::Approx(somebody_stays ? 0 : 1));
    CHECK(x.how_far().longest_history() == 100);
    CHECK(x.how_far().last_progress() == (somebody_stays ? 1s : 9s));
  }
}

TEST_CASE("the share of first tries counts committed steps with one group") {
  run_judge x{usual()};
  CHECK(x.how_far().first_try() == 1);
  x.told({0}, 1s, round("a", 1, true));
  x.told({0}, 2s, round("b", 2, false));
  x.told({0}, 3s, round("c", 2, true));
  CHECK(x.how_far().first_try() == doctest::Approx(0.5));
}

TEST_CASE("redrawn groups hold different parameters, but begin their step with "
          "the same, and count a part of the batch") {
  auto rules = usual();
  rules.redraws = true;
  rules.most_drift = 0.1;
  for (bool same : {true, false}) {
    run_judge x{rules};
    for (std::size_t peer : {0u, 1u}) {
      auto news = step(1, 100, peer == 0 ? "one" : "two", 30);
      news.fields.push_back(
          {"averaged", std::string{same || peer == 0 ? "mean" : "other"}});
      x.told({peer}, 1s, round("g", 1, true));
      x.told({peer}, 1s, news);
    }
    CHECK(x.all().violations().empty() == same);
    CHECK(x.of<equal_states>().splits() == 0);
    auto next = step(2, 230, "one", 30); // Not by what its group has.
    next.fields.push_back({"averaged", std::string{"mean"}});
    x.told({0}, 2s, next);
    CHECK(x.all().violations().size() == (same ? 1 : 2));
  }
}

TEST_CASE("peers of redrawn groups stay near each other at every step") {
  auto rules = usual();
  rules.redraws = true;
  rules.most_drift = 0.1;
  run_judge x{rules};
  x.of<near_parameters>().seen_at({0}, 1s, 1, {3, 4});
  x.of<near_parameters>().seen_at({1}, 1s, 2,
                                  {30, 40}); // Another step is no matter.
  x.of<near_parameters>().seen_at({1}, 1s, 1, {3, 4.4f});
  CHECK(x.all().violations().empty());
  CHECK(x.of<near_parameters>().drift()
        == doctest::Approx(0.4 / 5.325).epsilon(0.01));
  x.of<near_parameters>().seen_at({2}, 1s, 1, {3, 3});
  REQUIRE(x.all().violations().size() == 1);
  CHECK(x.all().violations()[0].find("apart") != std::string::npos);
  // Who has left is compared with nobody, and exact runs have no drift.
  x.ended({0});
  run_judge exact{usual()};
  exact.of<near_parameters>().seen_at({0}, 1s, 1, {1});
  exact.of<near_parameters>().seen_at({1}, 1s, 1, {2});
  CHECK(exact.of<near_parameters>().drift() == 0);
  CHECK(exact.all().violations().empty());
}

TEST_CASE("other parameters in a download, or at the end, are found") {
  auto rules = usual();
  rules.steps = 1;
  for (auto what : {"state_download", "finished"})
    for (auto digest : {"one", "two"}) {
      CAPTURE(what);
      run_judge x{rules};
      x.told({0}, 1s, step(1, 100, "one"));
      x.told({1}, 2s,
             {what,
              {{"step", std::uint64_t{1}}, {"digest", std::string{digest}}}});
      CHECK(x.all().violations().empty() == (digest == std::string{"one"}));
    }
}

TEST_CASE("an end before the last step, or with two states, is found") {
  auto rules = usual();
  rules.steps = 2;
  auto end = [](std::uint64_t at, const std::string& digest) {
    return event{"finished", {{"step", at}, {"digest", digest}}};
  };
  run_judge x{rules};
  x.told({0}, 1s, end(2, "one"));
  x.told({1}, 1s, end(2, "one"));
  CHECK(x.all().violations().empty());
  CHECK(x.of<all_finish>().has_finished(1));
  CHECK_FALSE(x.of<all_finish>().has_finished(2));
  x.told({2}, 1s, end(1, "one"));
  CHECK(x.of<all_finish>().problem() == "peer 2 finished at step 1");
  run_judge y{rules};
  y.told({0}, 1s, end(2, "one"));
  y.told({1}, 1s, end(2, "two"));
  CHECK(y.of<all_finish>().problem().find("2 digests") == 0);
  rules.expects.may_split = true;
  run_judge z{rules};
  z.told({0}, 1s, end(2, "one"));
  z.told({1}, 1s, end(2, "two"));
  CHECK(z.all().violations().empty());
  z.told({2}, 1s, end(1, "one"));
  CHECK(z.all().violations().size() == 1);
}

TEST_CASE("a checkpoint with parameters that nobody had is found") {
  for (auto digest : {"one", "two"}) {
    run_judge x{usual()};
    x.told({0}, 1s, step(1, 100, "one"));
    x.resumed(1, 2s, 7, 700, "three"); // Nobody remembers that step.
    x.resumed(2, 2s, 1, 100, digest);
    CHECK(x.all().violations().empty() == (digest == std::string{"one"}));
  }
}

TEST_CASE("the ban of an honest peer, and a refusal where all are, are found") {
  auto ban = [](const std::string& peer) {
    return event{"ban", {{"peer", peer}, {"detail", std::string{"why"}}}};
  };
  run_judge x{usual()};
  x.told({0}, 1s, ban("bbbb"));
  x.told({0}, 1s, fault("bbbb", "refused us", "another run"));
  CHECK(x.all().violations().empty());
  x.told({0}, 1s, ban("aaaa"));
  CHECK(x.all().violations().size() == 1);
  auto rules = usual();
  rules.all_honest = true;
  run_judge y{rules};
  y.told({0}, 1s, fault("bbbb", "refused us", "another run"));
  CHECK(y.all().violations().size() == 1);
}

TEST_CASE("a mean that is not finite, and a group that none drew, are found") {
  run_judge x{usual()};
  x.told({0}, 1s, fault("", "mean refused", "it is not finite"));
  CHECK(x.all().violations().size() == 1);
  auto redrawn = step(1, 100, "d", 30);
  redrawn.fields.push_back({"averaged", std::string{"mean"}});
  x.told({0}, 1s, redrawn);
  CHECK(x.all().violations().size() == 2);
}

TEST_CASE("what a scenario expects is judged at the end, and only then") {
  for (bool kept : {true, false}) {
    auto rules = usual();
    rules.expects.first_try = kept ? 0.5 : 0.6;
    rules.expects.final_loss = kept ? 0.5 : 0.4;
    run_judge x{rules};
    x.told({0}, 1s, round("a", 1, false));
    x.told({0}, 1s, round("b", 1, true));
    x.told({0}, 1s, round("c", 2, true));
    x.told({0}, 1s, step(1, 100));
    CHECK(x.all().violations().empty());
    x.close(2s);
    CHECK(x.all().violations().size() == (kept ? 0 : 2));
  }
}
