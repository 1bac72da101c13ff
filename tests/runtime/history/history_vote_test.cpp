#include "runtime/history/history_vote.hpp"

#include <random>

#include <doctest/doctest.h>

#include "tests/runtime/history/history_peers.hpp"

using namespace potluck;
using namespace potluck::history_peers;

TEST_CASE("ties between histories are broken by a total order") {
  std::mt19937_64 random{5};
  std::vector<progress_report> all;
  for (std::size_t i = 0; i < 40; ++i) {
    all.push_back(report(i, 3));
    all.back().history_samples = random() % 4;
    all.back().state = state(random() % 4);
  }
  for (const auto& a : all)
    for (const auto& b : all) {
      bool same = a.history_samples == b.history_samples && a.state == b.state;
      CHECK(better_history(a, b) + better_history(b, a) == (same ? 0 : 1));
      for (const auto& c : all)
        if (better_history(a, b) && better_history(b, c))
          CHECK(better_history(a, c));
    }
}

TEST_CASE(
    "of those ahead the middle is followed, in the state that most hold") {
  std::vector<progress_report> all;
  for (std::size_t i = 1; i <= 5; ++i)
    all.push_back(report(i, i == 5 ? 900 : 40));
  all[0].state = state(1, 'x');
  std::vector<ballot> ballots;
  for (auto& x : all)
    ballots.push_back({&x, stance::ahead});
  auto donors = outnumbered(ballots, report(0, 0), 1);
  REQUIRE(donors.size() == 3);
  CHECK(donors[0].id == peer(2));
  CHECK(outnumbered(ballots, report(0, 0), 6).empty());
  ballots.clear();
  CHECK(outnumbered(ballots, report(0, 0), 1).empty());
}
