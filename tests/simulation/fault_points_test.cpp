/// Rare paths, taken on purpose, break no promise; and all are taken.
#include <doctest/doctest.h>

#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

TEST_CASE("rare paths break no promise, and every one of them is taken") {
  const std::vector<trial> suite{
      {"tools/scenarios/churn.json", 9, 12, {}, true, true},
      {"tools/scenarios/join-storm.json", 4, 25, {}, true, true},
      {"tools/scenarios/kill-half.json", 0, 25, {}, true, true},
      {"tests/simulation/scenarios/joining.json", 0, 0, {}, true, true},
  };
  fault_points::counts all{};
  for (const auto& x : suite)
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const auto result = x.run(seed);
      auto wrong = result.passed ? "" : "\n" + x.command(seed);
      for (const auto& violation : result.violations)
        wrong += "\n  " + violation;
      CHECK(wrong == "");
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i] += result.rare_paths[i];
    }
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK_MESSAGE(all[i] > 0, name_of(static_cast<fault_point>(i)));
}

TEST_CASE("without being asked for, no rare path is taken") {
  const trial usual{"tools/scenarios/join-storm.json", 4, 10};
  CHECK(usual.run(1).rare_paths == fault_points::counts{});
}
