#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "runtime/planning/planning_limits.hpp"
#include "runtime/planning/strategy_plan.hpp"

using namespace potluck;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

strategy_peer peer(const std::string& id) {
  strategy_peer x;
  x.id = id;
  x.samples_per_second = 10;
  x.upload = 1e6;
  x.download = 2e6;
  return x;
}

strategy_problem three() {
  strategy_problem x;
  x.target_batch = 100;
  x.gradient_bytes = 1e6;
  x.peers = {peer("a"), peer("b"), peer("c")};
  return x;
}

std::string refused(const std::function<void(strategy_problem&)>& spoil) {
  auto x = three();
  spoil(x);
  auto found = review(x);
  auto refusal = found.refusal();
  return refusal ? refusal->sentence : "not refused";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The finding about this peer and field, if there is just one finding.
std::string only_finding(const reviewed_problem& x) {
  if (x.findings.size() != 1)
    return std::to_string(x.findings.size()) + " findings";
  return to_string(x.findings[0].verdict) + " " + x.findings[0].peer + "."
         + x.findings[0].field;
}

} // namespace

TEST_CASE("a problem with possible figures is planned with as it is") {
  auto x = review(three());
  CHECK(x.findings.empty());
  CHECK(x.problem.peers.size() == 3);
}

TEST_CASE("what nobody can plan with is refused with the mend") {
  CHECK(has(refused([](auto& x) { x.peers.clear(); }), "at least one"));
  CHECK(has(refused([](auto& x) { x.peers[1].id = "a"; }),
            "two peers called 'a'"));
  CHECK(has(refused([](auto& x) { x.peers[1].id = ""; }), "has no id"));
  for (double bad : {0.0, -1.0, nan, infinite, 1e300}) {
    CAPTURE(bad);
    CHECK(has(refused([&](auto& x) { x.target_batch = bad; }),
              "target_batch is"));
    CHECK(has(refused([&](auto& x) { x.gradient_bytes = bad; }),
              "gradient_bytes is"));
  }
  CHECK(has(refused([](auto& x) {
              x.links = {{"a", "z", 1}};
            }),
            "'z', which is no peer"));
  CHECK(has(refused([](auto& x) {
              x.links = {{"a", "a", 1}};
            }),
            "is not a link"));
  CHECK(has(refused([](auto& x) {
              x.links = {{"a", "b", 1}, {"a", "b", 2}};
            }),
            "there twice"));
  CHECK(has(refused([](auto& x) { x.links = {{"a", "b", -1}}; }), "negative"));
  CHECK(has(refused([](auto& x) {
              x.links = {{"a", "b", nan}};
            }),
            "no number"));
  CHECK(has(refused([](auto& x) {
              for (auto& p : x.peers)
                p.upload = -1;
            }),
            "No peer has figures"));
  CHECK(has(refused([](auto& x) {
              x.peers.clear();
              for (std::size_t i = 0; i <= limits::planned_peers; ++i)
                x.peers.push_back(peer(std::to_string(i)));
            }),
            "at most"));
  CHECK(has(refused([](auto& x) {
              for (std::size_t i = 0; i <= limits::planned_linked_peers; ++i)
                x.peers.push_back(peer(std::to_string(i)));
              x.links = {{"a", "b", 1}};
            }),
            "Links can be planned for at most"));
}

TEST_CASE("a peer with an impossible figure is left out with the reason") {
  for (double bad : {-1.0, nan, infinite, -infinite}) {
    CAPTURE(bad);
    for (auto field : {&strategy_peer::samples_per_second,
                       &strategy_peer::upload, &strategy_peer::download}) {
      auto x = three();
      x.links = {{"a", "b", 5}, {"a", "c", 5}};
      x.peers[1].*field = bad;
      auto found = review(x);
      CHECK_FALSE(found.refusal());
      REQUIRE(found.findings.size() == 1);
      CHECK(found.findings[0].verdict == input_verdict::excluded);
      CHECK(found.findings[0].peer == "b");
      CHECK(found.problem.peers.size() == 2);
      CHECK(found.problem.links.size() == 1); // Its links went with it.
      CHECK(plan_strategy(found.problem, 16).peers.size() == 2);
    }
  }
}

TEST_CASE("an impossible or boastful figure is clamped to what was observed") {
  for (double bad : {-1.0, nan, infinite, 9e6}) {
    CAPTURE(bad);
    auto x = three();
    x.peers[1].upload = bad;
    x.peers[1].seen_upload = 3e6;
    auto found = review(x);
    CHECK(only_finding(found) == "clamped b.upload");
    CHECK(found.problem.peers[1].upload == 3e6);
  }
  auto x = three();
  x.peers[1].upload = 2e6;
  x.peers[1].seen_upload = 3e6;
  CHECK(review(x).problem.peers[1].upload == 2e6);
  x.peers[1].seen_upload = nan; // Nothing was seen then.
  CHECK(review(x).problem.peers[1].upload == 2e6);
}

TEST_CASE("absurd figures are clamped, and vanishing ones are zero") {
  auto x = three();
  x.peers[0].download = 1e300;
  auto found = review(x);
  CHECK(only_finding(found) == "clamped a.download");
  CHECK(found.problem.peers[0].download == limits::planned_figure);
  x = three();
  x.peers[0].samples_per_second = 1e-300;
  found = review(x);
  CHECK(only_finding(found) == "clamped a.samples_per_second");
  CHECK(found.problem.peers[0].samples_per_second == 0);
}

TEST_CASE("a link without end is no limit") {
  auto x = three();
  x.links = {{"a", "b", infinite}, {"b", "a", 1e300}};
  auto found = review(x);
  CHECK(found.findings.empty());
  CHECK(found.problem.links.empty());
}

TEST_CASE("zero is planned with, and noted") {
  auto x = three();
  x.peers[1].upload = 0;
  auto found = review(x);
  CHECK(only_finding(found) == "noted b.upload");
  auto plan = plan_strategy(found.problem, 16);
  CHECK(plan.steps_per_second > 0);
  CHECK_FALSE(plan.peers[1].computes); // Nobody would get its gradient.
  x = three();
  x.peers[1].download = 0;
  found = review(x);
  CHECK(only_finding(found) == "noted b.download");
}

TEST_CASE("nobody who computes, and nobody who holds the model, are noted") {
  auto x = three();
  for (auto& p : x.peers)
    p.computes = false;
  auto found = review(x);
  CHECK(only_finding(found) == "noted .samples_per_second");
  auto plan = plan_strategy(found.problem, 16);
  CHECK(plan.steps_per_second == 0);
  CHECK(plan.strategy == "none");
  x = three();
  for (auto& p : x.peers)
    p.holds_model = false;
  found = review(x);
  CHECK(only_finding(found) == "noted .holds_model");
  CHECK(plan_strategy(found.problem, 16).steps_per_second
        == doctest::Approx(0.3));
}

TEST_CASE("a single peer computes alone, and two average") {
  auto x = three();
  x.peers.resize(1);
  auto found = review(x);
  CHECK(only_finding(found) == "noted a.");
  auto plan = plan_strategy(found.problem, 16);
  CHECK(plan.strategy == "alone");
  CHECK(plan.steps_per_second == doctest::Approx(0.1));
  CHECK(plan.scheduled_steps_per_second == doctest::Approx(0.1));
  CHECK(plan.peers[0].binding == "compute");
  x = three();
  x.peers.resize(2);
  found = review(x);
  CHECK(found.findings.empty());
  plan = plan_strategy(found.problem, 16);
  // Each uploads one gradient a step, whoever averages what.
  CHECK(plan.averaging_steps_per_second == doctest::Approx(1));
  CHECK(plan.steps_per_second == doctest::Approx(0.2));
}

TEST_CASE("islands are noted and give no steps, unless one can do alone") {
  auto x = three();
  for (auto& p : x.peers)
    p.computes = true;
  x.links = {{"a", "c", 0}, {"c", "a", 0}, {"b", "c", 0}, {"c", "b", 0}};
  auto found = review(x);
  REQUIRE(only_finding(found) == "noted .links");
  CHECK(has(found.findings[0].sentence, "2 islands"));
  CHECK(has(found.findings[0].sentence, "a, b | c"));
  auto plan = plan_strategy(found.problem, 16);
  CHECK(plan.steps_per_second == 0);
  CHECK(plan.scheduled_steps_per_second == 0);
  CHECK(plan.strategy == "none");
  CHECK(plan.relays.empty());
}
