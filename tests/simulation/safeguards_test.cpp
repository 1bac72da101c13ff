/// That the simulation can fail: for every safeguard a scenario which holds
/// with it and is violated without.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

namespace {

struct proof {
  safeguard taken;
  std::string scenario; ///< In tests/simulation/scenarios.
  std::uint64_t seeds;  ///< So many, one of which fails without, at least.
  std::string violated; ///< Part of the sentence.
};

// README.md has the same as a table.
const std::vector<proof> proofs{
    {safeguard::repeated_part, "flood", 12, "counts samples"},
    {safeguard::equal_digests, "equivocator", 2, "holds other parameters"},
    {safeguard::target_batch, "matchmaking-crashes", 6, "of a target batch of"},
    {safeguard::frozen_gradient, "calm", 2, "counts samples"},
    {safeguard::batch_number, "conductor-crashes", 6, "counts samples"},
    {safeguard::restart_gradient, "conductor-crashes", 6, "counts samples"},
    {safeguard::group_ids, "matchmaking-crashes", 6, "after the same round"},
    {safeguard::longer_history, "joining", 6, "holds other parameters"},
    {safeguard::piece_digest, "wrong-state", 8, "says of the honest donor"},
    {safeguard::naming, "two-faced", 24, "no step for"},
    {safeguard::audit, "liar", 2, "the loss is"},
    {safeguard::checkpoint_sum, "torn-disks", 4, "parameters that nobody had"},
    {safeguard::finite_part, "nan", 4, "found bad data in what the honest"},
    {safeguard::mean_parameters, "redrawn", 1, "of their length apart"},
    {safeguard::group_majority, "cut-groups", 128, "after the same round"},
};

} // namespace

TEST_CASE("every safeguard has a scenario that fails without it") {
  std::set<safeguard> proven;
  for (auto& x : proofs) {
    CAPTURE(x.scenario);
    proven.insert(x.taken);
    trial run{"tests/simulation/scenarios/" + x.scenario + ".json", 0, 0,
              x.taken};
    INFO(run.command(1) << " --seeds=" << x.seeds);
    bool caught = false;
    for (std::uint64_t seed = 1; seed <= x.seeds && !caught; ++seed)
      for (auto& violation : run.run(seed).violations)
        caught = caught || violation.find(x.violated) != std::string::npos;
    CHECK(caught);
  }
  CHECK(proven.size() == simulation::safeguard_count);
}

TEST_CASE("with all safeguards the same scenarios hold") {
  std::set<std::string> scenarios;
  for (auto& x : proofs)
    scenarios.insert(x.scenario);
  for (auto& name : scenarios)
    CHECK(trial{"tests/simulation/scenarios/" + name + ".json"}.complaint(1, 3)
          == "");
}

TEST_CASE("each safeguard is taken away alone, and has one name") {
  std::set<std::string> names;
  for (std::size_t i = 0; i < simulation::safeguard_count; ++i) {
    auto& x = simulation::safeguards()[i];
    CAPTURE(x.name);
    CHECK(static_cast<std::size_t>(x.which) == i);
    CHECK(names.insert(x.name).second);
    CHECK(simulation::safeguard_named(x.name) == x.which);
    CHECK_FALSE(x.guards.empty());
    const safeguard_set all;
    const auto rest = all.without(x.which);
    for (auto& other : simulation::safeguards()) {
      CHECK(all.has(other.which));
      CHECK(rest.has(other.which) == (other.which != x.which));
    }
  }
  CHECK_FALSE(simulation::safeguard_named("nothing"));
}
