#include <doctest/doctest.h>

#include <cmath>

#include "runtime/planning/linear_program.hpp"
#include "runtime/planning/shares.hpp"
#include "runtime/planning/who_computes.hpp"
#include "tests/runtime/planning/random_network.hpp"

using namespace potluck;
using relation = linear_program::relation;

namespace {

/// The published problem for given computing peers, written out as it stands:
/// a, g, and a row for every g_ij <= a_ki. In units of `unit` gradients/s.
double published_rate(const peer_network& net, const peer_flags& computing) {
  double unit = line_bound(net, computing);
  if (unit == 0 || unit == peer_network::unlimited)
    return unit;
  std::size_t n = net.size();
  auto a = [&](std::size_t i, std::size_t j) { return 1 + i * n + j; };
  auto g = [&](std::size_t i, std::size_t j) { return 1 + n * n + i * n + j; };
  linear_program program{1 + 2 * n * n};
  program.cost(0, -1);
  program.limit(0, 1);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::pair<std::size_t, double>> up;
    std::vector<std::pair<std::size_t, double>> down;
    std::vector<std::pair<std::size_t, double>> got{{0, -1.0}};
    for (std::size_t j = 0; j < n; ++j) {
      program.limit(a(i, j), 2);
      program.limit(g(i, j), 2);
      got.emplace_back(g(j, i), 1.0);
      for (std::size_t k = 0; k < n; ++k)
        if (computing[k])
          program.require({{g(i, j), 1.0}, {a(k, i), -1.0}}, relation::at_most,
                          0);
      if (j == i)
        continue;
      up.emplace_back(a(i, j), 1.0);
      up.emplace_back(g(i, j), 1.0);
      down.emplace_back(a(j, i), 1.0);
      down.emplace_back(g(j, i), 1.0);
      if (double limit = net.link(i, j); limit != peer_network::unlimited)
        program.require({{a(i, j), 1.0}, {g(i, j), 1.0}}, relation::at_most,
                        std::min(limit / unit, 4.0));
    }
    double enough = 8.0 * static_cast<double>(n);
    if (n > 1) {
      program.require(up, relation::at_most,
                      std::min(net.up(i) / unit, enough));
      program.require(down, relation::at_most,
                      std::min(net.down(i) / unit, enough));
    }
    if (net.holds(i))
      program.require(got, relation::at_least, 0);
  }
  auto found = program.solve();
  REQUIRE(found);
  return -found->objective * unit;
}

/// Every limit of the published problem, of the rates themselves.
void check_limits(const peer_network& net, const peer_flags& computing,
                  const exchange& x) {
  std::size_t n = net.size();
  double hair = 1 + 1e-9;
  for (std::size_t i = 0; i < n; ++i) {
    double up = 0;
    double down = 0;
    double got = 0;
    for (std::size_t j = 0; j < n; ++j) {
      CHECK(x.means[i][j] <= x.reduce[i] * hair);
      got += x.means[j][i];
      if (j == i)
        continue;
      up += (computing[i] ? x.reduce[j] : 0) + x.means[i][j];
      down += (computing[j] ? x.reduce[i] : 0) + x.means[j][i];
      if (net.link(i, j) != peer_network::unlimited)
        CHECK((computing[i] ? x.reduce[j] : 0) + x.means[i][j]
              <= net.link(i, j) * hair);
    }
    CHECK(up <= net.up(i) * hair);
    CHECK(down <= net.down(i) * hair);
    if (net.holds(i) && x.rate != peer_network::unlimited)
      CHECK(got >= x.rate / hair);
  }
}

peer_flags given(const strategy_problem& problem) {
  peer_flags result;
  for (const auto& x : problem.peers)
    result.push_back(x.computes == true);
  return result;
}

} // namespace

TEST_CASE("the small program's optimum is that of the published one") {
  std::size_t above_one_place = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto problem = random.problem(2 + random.below(6), false, seed % 2 == 0);
    peer_network net{problem};
    auto computing = given(problem);
    auto x = fastest_exchange(net, computing);
    REQUIRE(x);
    CHECK(x->published);
    double reference = published_rate(net, computing);
    CHECK((x->rate == reference
           || x->rate == doctest::Approx(reference).epsilon(1e-7)));
    check_limits(net, computing, *x);
    auto one = fastest_shares(net, computing);
    CHECK(one.rate <= x->rate * (1 + 1e-9));
    above_one_place += one.rate < x->rate * (1 - 1e-6);
    if (one.rate > 0 && one.rate != peer_network::unlimited) {
      CHECK(rate_of(net, computing, one.shares)
            == doctest::Approx(one.rate).epsilon(1e-9));
      check_limits(net, computing, as_exchange(net, computing, one));
    }
  }
  // The published problem lets one part be averaged in two places.
  CHECK(above_one_place > 20);
}

TEST_CASE("duals say what a little more of a line gives") {
  std::size_t positive = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto problem = random.problem(3 + random.below(4), false, true);
    peer_network net{problem};
    auto computing = given(problem);
    auto x = fastest_exchange(net, computing);
    REQUIRE(x);
    if (x->rate == 0 || x->rate == peer_network::unlimited)
      continue;
    for (std::size_t i = 0; i < net.size(); ++i) {
      auto more = problem;
      double added = more.peers[i].upload * 1e-4;
      more.peers[i].upload += added;
      double gain
          = (fastest_exchange(peer_network{more}, computing)->rate - x->rate)
            / (added / problem.gradient_bytes);
      // At a corner the dual is one of several; never less than the truth.
      CHECK(x->upload_gain[i] >= gain - 1e-3);
      CHECK(x->upload_gain[i] <= 1 + 1e-6);
      positive += gain > 1e-3;
    }
  }
  CHECK(positive > 50);
}

TEST_CASE("fewer averaging peers are a valid exchange, and no faster") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto problem = random.problem(8, false, true);
    peer_network net{problem};
    auto computing = given(problem);
    auto few = fastest_exchange(net, computing, 3);
    auto all = fastest_exchange(net, computing);
    REQUIRE((few && all));
    CHECK(few->rate <= all->rate * (1 + 1e-9));
    check_limits(net, computing, *few);
  }
}

TEST_CASE("who computes is chosen as well as by trying every set") {
  std::size_t not_everybody = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto problem = random.problem(2 + random.below(6), true, seed % 2 == 0);
    peer_network net{problem};
    double best = 0;
    for (unsigned bits = 1; bits < 1u << net.size(); ++bits) {
      peer_flags set;
      bool fits = true;
      for (std::size_t i = 0; i < net.size(); ++i) {
        set.push_back((bits >> i & 1) != 0);
        fits = fits && net.computes(i).value_or(set[i]) == set[i];
      }
      if (fits)
        best = std::max(best, std::min(net.compute_rate(set),
                                       fastest_exchange(net, set)->rate));
    }
    auto x = choose_computing(net);
    CHECK(x.rate == doctest::Approx(best).epsilon(1e-7).scale(1e-9));
    CHECK(x.upper_bound >= best * (1 - 1e-9));
    CHECK(x.upper_bound <= best * (1 + 1e-6) + 1e-12);
    CHECK(scanned_bound(net) >= best * (1 - 1e-9));
    CHECK(summed_bound(net, 0) >= best * (1 - 1e-9));
    for (std::size_t i = 0; i < net.size(); ++i)
      not_everybody += !net.computes(i) && !x.computing[i];
  }
  CHECK(not_everybody > 100);
}

TEST_CASE("a large plan's bound holds, and is close where lines are free") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto problem = random.problem(300, seed % 2 == 0, false);
    peer_network net{problem};
    auto x = choose_computing(net);
    CHECK(x.rate > 0);
    CHECK(x.upper_bound >= x.rate);
    CHECK(x.upper_bound <= x.rate * 1.15);
    CHECK(x.rate <= net.compute_rate(x.computing) * (1 + 1e-12));
  }
}
