#include "runtime/organiser/run_terms.hpp"

#include <doctest/doctest.h>

#include "runtime/optimizer/schedules/schedule.hpp"
#include "tests/runtime/organiser/signed_amendments.hpp"

using namespace potluck;
using namespace potluck::amendments;

namespace {

/// 100 steps, of which 10 warm up.
run_settings settings() {
  run_settings x;
  x.steps = 100;
  x.warmup_steps = 10;
  x.learning_rate = 0.01;
  return x;
}

} // namespace

TEST_CASE("without amendments everything is the charter's") {
  const run_terms terms{settings(), {}};
  CHECK(terms.steps(0) == 100);
  for (std::uint64_t step : {0, 1, 10, 11, 99, 100, 101})
    CHECK(terms.rate(step) == learning_rate_at(settings(), step));
  CHECK_FALSE(terms.paused(50));
  CHECK(terms.shape(50).empty());
  CHECK(terms.banned().empty());
  CHECK_FALSE(terms.admission());
  CHECK_FALSE(terms.rolled_back());
}

TEST_CASE("steps change from the step on that the amendment names") {
  const run_terms terms{settings(), {of(1, new_steps{60}, 41)}};
  CHECK(terms.steps(39) == 100);
  CHECK(terms.steps(40) == 60);
  CHECK(terms.steps(70) == 60); // Who hears of it too late has finished.
  // The rate goes on where it was, and reaches zero behind the new end.
  CHECK(terms.rate(40) == learning_rate_at(settings(), 40));
  CHECK(terms.rate(41) < terms.rate(40));
  CHECK(terms.rate(60) > 0);
  CHECK(terms.rate(60) == doctest::Approx(terms.rate(40) / 21));
  CHECK(terms.rate(61) == 0);
  CHECK(terms.shape(40).empty());
  CHECK_FALSE(terms.shape(41).empty());
  const run_terms other{settings(), {of(1, new_steps{61}, 41)}};
  CHECK(terms.shape(41) != other.shape(41));
}

TEST_CASE("a run that is over is extended, with the rate of a run of so many "
          "steps") {
  const run_terms terms{settings(), {of(1, new_steps{200}, 101)}};
  CHECK(terms.steps(99) == 100);
  CHECK(terms.steps(100) == 200); // Whoever has finished goes on.
  auto longer = settings();
  longer.steps = 200;
  CHECK(terms.rate(100) == learning_rate_at(settings(), 100));
  for (std::uint64_t step : {101, 150, 200, 201})
    CHECK(terms.rate(step) == doctest::Approx(learning_rate_at(longer, step)));
  CHECK(terms.rate(101) > 10 * terms.rate(100));
}

TEST_CASE("steps that are amended in the warm-up leave it as it is") {
  const run_terms terms{settings(), {of(1, new_steps{50}, 4)}};
  auto shorter = settings();
  shorter.steps = 50;
  for (std::uint64_t step = 1; step <= 51; ++step)
    CHECK(terms.rate(step) == doctest::Approx(learning_rate_at(shorter, step)));
}

TEST_CASE("the rate's tail begins where the organiser says") {
  const run_terms terms{settings(), {of(1, new_rate_tail{10}, 41)}};
  const auto held = learning_rate_at(settings(), 40);
  CHECK(terms.rate(40) == held);
  CHECK(terms.rate(41) == held);
  CHECK(terms.rate(90) == held);
  CHECK(terms.rate(91) == doctest::Approx(held * 10 / 11));
  CHECK(terms.rate(100) == doctest::Approx(held / 11));
  CHECK(terms.rate(101) == 0);
  CHECK(terms.steps(50) == 100);
  // Later steps keep that tail.
  const run_terms longer{
      settings(), {of(1, new_rate_tail{10}, 41), of(2, new_steps{200}, 51)}};
  CHECK(longer.rate(190) == held);
  CHECK(longer.rate(191) < held);
}

TEST_CASE("what the organiser changes bends the run's own schedule") {
  auto x = settings();
  for (std::string name : {"linear", "cosine", "inverse-sqrt", "constant"}) {
    CAPTURE(name);
    x.own["optimizer"]["schedule"] = name;
    const auto held = learning_rate_at(x, 40);
    const run_terms shorter{x, {of(1, new_steps{60}, 41)}};
    CHECK(shorter.rate(40) == held);
    CHECK(shorter.rate(60) > 0);
    CHECK(shorter.rate(61) == 0);
    const bool ends = name == "linear" || name == "cosine";
    CHECK((shorter.rate(60) < held / 20) == ends);
    if (!ends) // They do not know where the run ends.
      CHECK(shorter.rate(60) == doctest::Approx(learning_rate_at(x, 60)));
    // A tail that is asked for ends at zero in every run.
    const run_terms tail{x, {of(1, new_rate_tail{10}, 41)}};
    CHECK(tail.rate(90) == held);
    CHECK(tail.rate(91) < held);
    CHECK(tail.rate(100) > 0);
    CHECK(tail.rate(100) < held / 10);
  }
}

TEST_CASE("a pause lasts until the run is resumed") {
  std::vector<amendment> all{of(1, pause_run{}, 20)};
  CHECK_FALSE(run_terms(settings(), all).paused(18));
  CHECK(run_terms(settings(), all).paused(19));
  CHECK(run_terms(settings(), all).paused(20));
  all.push_back(of(2, resume_run{}));
  CHECK_FALSE(run_terms(settings(), all).paused(19));
  all.push_back(of(3, pause_run{}, 30));
  CHECK_FALSE(run_terms(settings(), all).paused(28));
  CHECK(run_terms(settings(), all).paused(29));
  // A paused run that is rolled back stays paused.
  digest then;
  then.bytes[0] = 1;
  all.push_back(of(4, roll_back{10, then}));
  CHECK(run_terms(settings(), all).paused(10));
  all.push_back(of(5, resume_run{}));
  CHECK_FALSE(run_terms(settings(), all).paused(10));
  CHECK_FALSE(run_terms(settings(), all).paused(40));
}

TEST_CASE("a run that is finished ends with that step, for whoever is there") {
  const run_terms terms{settings(), {of(1, finish_run{}, 30)}};
  CHECK(terms.steps(28) == 100);
  CHECK(terms.steps(29) == 30);
  CHECK(terms.steps(30) == 30);
  CHECK(terms.shape(30).empty()); // The steps are made as before.
  const run_terms at_once{settings(), {of(1, finish_run{})}};
  CHECK(at_once.steps(0) == 0);
}

TEST_CASE("bans add up, and are lifted") {
  peer_id a;
  a.bytes[0] = 1;
  peer_id b;
  b.bytes[0] = 2;
  std::vector<amendment> all{of(1, new_bans{false, {a, b}})};
  CHECK(run_terms(settings(), all).banned() == std::set<peer_id>{a, b});
  all.push_back(of(2, new_bans{true, {a}}));
  CHECK(run_terms(settings(), all).banned() == std::set<peer_id>{b});
}

TEST_CASE(
    "a roll-back names a state where all hold one, and none where each has "
    "its own") {
  digest then;
  then.bytes[0] = 1;
  auto redrawn = settings();
  redrawn.averaging_method = "moshpit";
  REQUIRE(redrawn.redraws_groups());
  const std::vector<amendment> named{of(1, roll_back{10, then})};
  const std::vector<amendment> each{of(1, roll_back{10, {}})};
  CHECK(run_terms(settings(), named).rolled_back());
  CHECK_FALSE(run_terms(settings(), each).rolled_back());
  CHECK_FALSE(run_terms(redrawn, named).rolled_back());
  CHECK(run_terms(redrawn, each).rolled_back());
}

TEST_CASE("of admissions and roll-backs the last one counts") {
  digest then;
  then.bytes[0] = 1;
  const run_terms terms{settings(),
                        {of(1, new_admission{admission_mode::token}),
                         of(2, roll_back{20, then}), of(3, roll_back{10, then}),
                         of(4, new_admission{admission_mode::list})}};
  CHECK(terms.admission() == admission_mode::list);
  REQUIRE(terms.rolled_back());
  CHECK(terms.rolled_back()->number == 3);
  CHECK(terms.rolled_back()->to.step == 10);
}
