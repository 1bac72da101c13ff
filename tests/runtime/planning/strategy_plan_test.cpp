#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "runtime/planning/shares.hpp"
#include "runtime/planning/strategy_plan.hpp"
#include "tests/runtime/planning/random_network.hpp"

using namespace potluck;

namespace {

strategy_peer peer(const std::string& id, double line) {
  strategy_peer x;
  x.id = id;
  x.samples_per_second = 100;
  x.upload = line;
  x.download = line;
  x.computes = true;
  return x;
}

strategy_peer auxiliary(const std::string& id, double line) {
  auto x = peer(id, line);
  x.computes = false;
  x.holds_model = false;
  x.samples_per_second = 0;
  return x;
}

/// A network in which averaging limits the steps.
strategy_problem of(std::vector<strategy_peer> peers) {
  strategy_problem x;
  x.target_batch = 1;
  x.gradient_bytes = 1e6;
  x.peers = std::move(peers);
  return x;
}

std::vector<strategy_peer> times(std::size_t n, const strategy_peer& x) {
  std::vector<strategy_peer> result(n, x);
  for (std::size_t i = 0; i < n; ++i)
    result[i].id += std::to_string(i);
  return result;
}

void block(strategy_problem& x, const std::string& a, const std::string& b) {
  x.links.push_back({a, b, 0});
  x.links.push_back({b, a, 0});
}

strategy_plan planned(const strategy_problem& x, std::uint32_t chunks = 1000) {
  return plan_strategy(review(x).problem, chunks);
}

} // namespace

TEST_CASE("strategies are named for what the plan amounts to") {
  CHECK(planned(of(times(5, peer("p", 1e6)))).strategy == "all-reduce");
  auto server = times(5, peer("p", 1e6));
  server.push_back(auxiliary("s", 1e9));
  CHECK(planned(of(server)).strategy == "parameter server");
  auto helped = times(5, peer("p", 1e6));
  for (const auto& x : times(3, auxiliary("h", 4e6)))
    helped.push_back(x);
  for (auto& x : helped)
    x.listens = !x.holds_model; // Behind firewalls, so only helpers average.
  auto plan = planned(of(helped));
  CHECK(plan.strategy == "byteps");
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(plan.peers[i].chunks == 0); // Clients average nothing.
  auto mixed = times(5, peer("p", 1e6));
  mixed.push_back(peer("q", 2e6));
  CHECK(planned(of(mixed)).strategy == "mixed");
}

TEST_CASE("rates stay within the lines, and whole chunks lose at most one") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto problem
        = random.problem(2 + random.below(7), seed % 3 == 0, seed % 2 == 0);
    std::uint32_t chunks = 1 + static_cast<std::uint32_t>(random.below(2000));
    auto plan = plan_strategy(problem, chunks);
    std::uint64_t sum = 0;
    peer_network net{problem};
    peer_flags computing;
    for (const auto& x : plan.peers) {
      sum += x.chunks;
      computing.push_back(x.computes);
    }
    CHECK(plan.steps_per_second <= plan.compute_steps_per_second * (1 + 1e-12));
    CHECK(plan.steps_per_second <= plan.upper_bound);
    if (plan.strategy == "none") {
      CHECK(sum == 0);
      continue;
    }
    CHECK(sum == chunks);
    if (plan.strategy == "relayed" || plan.strategy == "alone")
      continue;
    CHECK(plan.scheduled_steps_per_second
          <= plan.steps_per_second * (1 + 1e-9));
    auto best = fastest_shares(net, computing);
    REQUIRE(best.shares.size() == plan.peers.size());
    for (std::size_t i = 0; i < plan.peers.size(); ++i)
      CHECK(std::abs(plan.peers[i].chunks - best.shares[i] * chunks)
            < 1 + 1e-3);
    // The rates as listed: what was said of them holds.
    std::map<std::string, double> got;
    for (const auto& x : plan.means)
      got[x.to] += x.rate / problem.gradient_bytes;
    for (const auto& x : problem.peers)
      if (x.holds_model)
        CHECK(got[x.id] >= plan.averaging_steps_per_second * (1 - 1e-9));
  }
}

TEST_CASE("the same problem gives the same plan, to the bit") {
  test::random_networks random{3};
  auto problem = random.problem(9, true, true);
  auto a = plan_strategy(problem, 100);
  auto b = plan_strategy(problem, 100);
  CHECK(a.fingerprint == b.fingerprint);
  CHECK(a.steps_per_second == b.steps_per_second);
  CHECK(a.averaging_seconds == b.averaging_seconds);
  auto other = problem;
  other.peers[2].upload += 1;
  CHECK(plan_strategy(other, 100).fingerprint != a.fingerprint);
  CHECK(plan_strategy(problem, 101).fingerprint != a.fingerprint);
}

TEST_CASE("a third forwards where a pair cannot talk") {
  // a and c only reach b, and b itself averages nothing: published, no answer.
  auto x = of({peer("a", 1e6), peer("b", 4e6), peer("c", 1e6)});
  block(x, "a", "c");
  x.links.push_back({"a", "b", 1e6});
  auto through_b = planned(x);
  CHECK(through_b.strategy == "parameter server"); // b averages: no relay.
  CHECK(through_b.relays.empty());

  // A chain of four: nobody is reached by all.
  auto chain
      = of({peer("a", 1e6), peer("b", 1e6), peer("c", 1e6), peer("d", 1e6)});
  block(chain, "a", "c");
  block(chain, "a", "d");
  block(chain, "b", "d");
  auto plan = planned(chain);
  CHECK(plan.steps_per_second == 0);
  CHECK(plan.strategy == "relayed");
  CHECK(plan.scheduled_steps_per_second > 0.1);
  REQUIRE_FALSE(plan.relays.empty());
  for (const auto& r : plan.relays) {
    CHECK((r.over == "b" || r.over == "c"));
    CHECK(r.from != r.over);
    CHECK(r.to != r.over);
  }
  CHECK(review(chain).findings.empty()); // One island.
}

TEST_CASE("blocked pairs that average through common peers: decentralised") {
  auto x = of({peer("a", 1e6), peer("b", 1e6), peer("c", 1e6), peer("d", 1e6)});
  block(x, "a", "b");
  auto plan = planned(x);
  CHECK(plan.strategy == "decentralised");
  CHECK(plan.peers[0].chunks == 0);
  CHECK(plan.peers[1].chunks == 0);
  CHECK(plan.steps_per_second > 0);
}

TEST_CASE("what limits a peer is named") {
  auto x = of({peer("slow", 1e6), peer("a", 9e6), peer("b", 9e6)});
  x.peers[0].download = 9e6;
  auto plan = planned(x);
  CHECK(plan.peers[0].binding == "upload");
  CHECK(plan.peers[0].upload_gain > 0);
  CHECK(plan.peers[1].upload_gain == 0);
  x.target_batch = 1e6;
  plan = planned(x);
  for (const auto& p : plan.peers) {
    CHECK(p.binding == "compute");
    CHECK(p.upload_gain == 0);
    CHECK(p.samples_gain == doctest::Approx(1e-6));
  }
  auto thin = of({peer("a", 9e6), peer("b", 9e6)});
  thin.links = {{"a", "b", 5e5}};
  plan = planned(thin);
  CHECK(plan.peers[0].binding.find("link to b") != std::string::npos);
  CHECK(plan.peers[1].binding.find("link from a") != std::string::npos);
}

TEST_CASE("an auxiliary peer's gain is what adding it gives") {
  auto x = of(times(6, peer("p", 1e6)));
  auto plan = planned(x);
  CHECK(plan.auxiliary_line == 1e6);
  auto with = x;
  with.peers.push_back(auxiliary("h", 1e6));
  CHECK(plan.auxiliary_gain
        == doctest::Approx(planned(with).steps_per_second
                           - plan.steps_per_second));
  CHECK(plan.auxiliary_gain > 0);
}

TEST_CASE("thousands of peers are planned with a stated gap") {
  test::random_networks random{11};
  auto problem = random.problem(3000, true, false);
  auto plan = plan_strategy(problem, 100000);
  CHECK(plan.steps_per_second > 0);
  CHECK(plan.gap >= 0);
  CHECK(plan.gap < 0.2);
  CHECK_FALSE(plan.listed);
  CHECK(plan.gradients.empty());
}

TEST_CASE("what was not reviewed is refused") {
  CHECK_THROWS_AS(plan_strategy({}, 10), std::invalid_argument);
  CHECK_THROWS_AS(plan_strategy(of(times(2, peer("p", 1))), 0),
                  std::invalid_argument);
}
