#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "runtime/planning/linear_program.hpp"
#include "runtime/planning/one_place.hpp"
#include "tests/runtime/planning/random_network.hpp"

using namespace potluck;
using relation = linear_program::relation;

namespace {

std::vector<one_place_peer> random_peers(test::random_networks& random,
                                         std::size_t n) {
  std::vector<one_place_peer> result;
  double width = random.chance(0.3) ? 3 : random.chance(0.5) ? 0.1 : 0.4;
  for (std::size_t i = 0; i < n; ++i) {
    one_place_peer x;
    x.up = random.power(-1.5, -1.5 + width);
    x.down = random.power(-1.2, -1.2 + width);
    if (i > 0 && random.chance(0.4)) // Auxiliary.
      x.computes = x.holds = false;
    else
      x.computes = i == 0 || !random.chance(0.2);
    x.averages = i == 0 || !random.chance(0.2);
    result.push_back(x);
  }
  return result;
}

/// What a share of w costs: upload and download in gradients.
std::pair<double, double> load(const std::vector<one_place_peer>& peers,
                               std::size_t i, double w) {
  double computing = 0;
  double holding = 0;
  for (const auto& x : peers) {
    computing += x.computes;
    holding += x.holds;
  }
  double c = peers[i].computes;
  double m = peers[i].holds;
  return {c * (1 - w) + w * (holding - m), m * (1 - w) + w * (computing - c)};
}

/// What passes from one to another: a part of its share, the mean of one's own.
double load(const std::vector<one_place_peer>& peers, const one_place_limit& x,
            const std::vector<double>& shares) {
  return peers[x.from].computes * shares[x.to]
         + peers[x.to].holds * shares[x.from];
}

/// The least time by GLPK, on the rows of the README.
std::optional<double> by_program(const std::vector<one_place_peer>& peers,
                                 const std::vector<one_place_limit>& limits
                                 = {}) {
  linear_program program{peers.size() + 1};
  program.cost(0, 1);
  std::vector<std::pair<std::size_t, double>> all;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    all.emplace_back(i + 1, 1.0);
    if (!peers[i].averages)
      program.limit(i + 1, 0);
    auto [up, down] = load(peers, i, 0);
    auto [most_up, most_down] = load(peers, i, 1);
    program.require({{0, peers[i].up}, {i + 1, up - most_up}},
                    relation::at_least, up);
    program.require({{0, peers[i].down}, {i + 1, down - most_down}},
                    relation::at_least, down);
  }
  for (const auto& x : limits)
    program.require({{0, x.speed},
                     {x.to + 1, -1.0 * peers[x.from].computes},
                     {x.from + 1, -1.0 * peers[x.to].holds}},
                    relation::at_least, 0);
  program.require(all, relation::equal, 1);
  auto found = program.solve();
  if (!found)
    return std::nullopt;
  return found->objective;
}

double seconds_of(const std::vector<one_place_peer>& peers,
                  const std::vector<double>& shares) {
  double result = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    auto [up, down] = load(peers, i, shares[i]);
    result = std::max({result, up / peers[i].up, down / peers[i].down});
  }
  return result;
}

/// As fast as the reference, in whole, and nothing where it may not be.
void check_shares(const std::vector<one_place_peer>& peers,
                  const one_place_answer& x, std::optional<double> reference) {
  REQUIRE(reference);
  REQUIRE(x.shares.size() == peers.size());
  CHECK(x.seconds == doctest::Approx(*reference).epsilon(1e-6));
  CHECK(std::accumulate(x.shares.begin(), x.shares.end(), 0.0)
        == doctest::Approx(1).epsilon(1e-12));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    CHECK(x.shares[i] >= 0);
    if (!peers[i].averages)
      CHECK(x.shares[i] == 0);
  }
}

} // namespace

TEST_CASE("the closed form is as fast as GLPK's answer, and its shares fit") {
  std::size_t shares_mattered = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto peers = random_peers(random, 1 + random.below(16));
    auto x = fastest_in_one_place(peers);
    check_shares(peers, x, by_program(peers));
    CHECK(seconds_of(peers, x.shares)
          == doctest::Approx(x.seconds).epsilon(1e-9));
    double least = 0; // Whatever the shares.
    for (std::size_t i = 0; i < peers.size(); ++i)
      least = std::max({least, peers[i].computes / peers[i].up,
                        peers[i].holds / peers[i].down});
    shares_mattered += x.seconds > least * (1 + 1e-9);
    // The same bits again.
    CHECK(fastest_in_one_place(peers).shares == x.shares);
  }
  // Else the test would only compare the slowest line.
  CHECK(shares_mattered > 500);
}

TEST_CASE("gains are what a little more of a line gives") {
  std::size_t positive = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto peers = random_peers(random, 3 + random.below(8));
    auto x = fastest_in_one_place(peers);
    auto gains = gains_in_one_place(peers, x);
    if (x.seconds == 0)
      continue;
    for (std::size_t i = 0; i < peers.size(); ++i)
      for (bool upload : {true, false}) {
        auto more = peers;
        auto& line = upload ? more[i].up : more[i].down;
        double added = line * 1e-6;
        line += added;
        double gain
            = (1 / fastest_in_one_place(more).seconds - 1 / x.seconds) / added;
        CAPTURE(i);
        CAPTURE(upload);
        double said = (upload ? gains.up : gains.down)[i];
        CHECK(said == doctest::Approx(gain).epsilon(1e-2).scale(1e-3));
        positive += said > 1e-3;
      }
  }
  CHECK(positive > 100);
}

TEST_CASE("equal peers share equally, to the last bit") {
  std::vector<one_place_peer> peers(7, {3, 4});
  auto x = fastest_in_one_place(peers);
  for (auto share : x.shares)
    CHECK(share == x.shares[0]);
  CHECK(x.seconds == doctest::Approx((1 + 5.0 / 7) / 3));
}

TEST_CASE("a line of zero cannot carry, and whom nothing must reach can") {
  std::vector<one_place_peer> peers(3, {1, 1});
  peers[1].up = 0;
  auto x = fastest_in_one_place(peers);
  CHECK(x.shares.empty());
  CHECK(std::isinf(x.seconds));
  peers[1].computes = false; // Only learns, and averages nothing.
  x = fastest_in_one_place(peers);
  REQUIRE(x.shares.size() == 3);
  CHECK(x.shares[1] == 0);
  std::vector<one_place_peer> alone(1, {0, 0});
  CHECK(fastest_in_one_place(alone).seconds == 0);
  CHECK(fastest_in_one_place(alone).shares == std::vector<double>{1});
}

/// Halvings that tell apart all times of a double between one and sixteen times
/// the least, and a few multiplications by sixteen before.
constexpr std::size_t most_tries = 64;

TEST_CASE("ten thousand peers take no more tries than a few") {
  // Nearly equal peers: the slowest line alone does not decide.
  for (std::size_t n : {10, 1000, 10000}) {
    CAPTURE(n);
    test::random_networks random{7};
    std::vector<one_place_peer> peers;
    for (std::size_t i = 0; i < n; ++i) {
      one_place_peer x;
      x.up = random.power(0, 0.1);
      x.down = random.power(0, 0.1);
      x.computes = x.holds = i % 10 != 0;
      peers.push_back(x);
    }
    auto x = fastest_in_one_place(peers);
    CHECK(x.shares.size() == n);
    CHECK(x.times_tried > 1);
    CHECK(x.times_tried <= most_tries);
  }
}

TEST_CASE("with limited pairs it is as fast as GLPK's answer, too") {
  std::size_t limits_mattered = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    CAPTURE(seed);
    test::random_networks random{seed};
    auto peers = random_peers(random, 2 + random.below(11));
    std::vector<one_place_limit> limits;
    const auto density = random.power(-1.3, -0.2);
    for (std::size_t i = 0; i < peers.size(); ++i)
      for (std::size_t j = 0; j < peers.size(); ++j)
        if (i != j && random.chance(density))
          limits.push_back({i, j, random.power(-3.5, -1)});
    auto x = fastest_in_one_place(peers, limits);
    check_shares(peers, x, by_program(peers, limits));
    auto seconds = seconds_of(peers, x.shares);
    for (const auto& limit : limits)
      seconds = std::max(seconds, load(peers, limit, x.shares) / limit.speed);
    CHECK(seconds <= x.seconds * (1 + 1e-8));
    limits_mattered
        += x.seconds > fastest_in_one_place(peers).seconds * (1 + 1e-6);
    CHECK(fastest_in_one_place(peers, limits).shares == x.shares);
  }
  CHECK(limits_mattered > 500);
}

TEST_CASE("a group of 64 in which every pair is limited takes few matchings") {
  test::random_networks random{3};
  std::vector<one_place_peer> peers(64);
  for (auto& x : peers)
    x.up = x.down = random.power(-1, 0);
  std::vector<one_place_limit> limits;
  for (std::size_t i = 0; i < peers.size(); ++i)
    for (std::size_t j = 0; j < peers.size(); ++j)
      if (i != j)
        limits.push_back({i, j, random.power(-3, -1)});
  auto x = fastest_in_one_place(peers, limits);
  CHECK(x.seconds == doctest::Approx(*by_program(peers, limits)).epsilon(1e-6));
  CHECK(x.times_tried <= most_tries);
}
