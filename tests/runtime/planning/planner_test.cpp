#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "runtime/planning/contract_difference.hpp"
#include "runtime/planning/planner.hpp"

using namespace potluck;

namespace {

/// As a member of a group has it.
digest plan_digest(const group_contract& contract,
                   const plan_rules& rules = {}) {
  return potluck::plan_digest(plan(collaboration_of(contract, rules)));
}

peer_id peer(std::size_t i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  return x;
}

planned_peer trainer(double upload, double download) {
  planned_peer x;
  x.upload_bytes_per_second = upload;
  x.download_bytes_per_second = download;
  return x;
}

planned_peer auxiliary(double upload, double download) {
  auto x = trainer(upload, download);
  x.computes = false;
  x.holds_model = false;
  return x;
}

collaboration of(std::vector<planned_peer> peers,
                 std::uint32_t chunks = 100000) {
  collaboration result;
  result.peers = std::move(peers);
  for (std::size_t i = 0; i < result.peers.size(); ++i)
    result.peers[i].id = peer(i);
  result.gradient_bytes = 100000000;
  result.chunks = chunks;
  return result;
}

std::vector<planned_peer> times(std::size_t n, planned_peer x) {
  return std::vector<planned_peer>(n, x);
}

/// The least time by bisection, from the formulas of the README and without a
/// linear program: in time T a peer can average any share between two bounds.
double least_seconds(const collaboration& x) {
  double computing = 0;
  double holding = 0;
  for (const auto& p : x.peers) {
    computing += p.computes;
    holding += p.holds_model;
  }
  auto bytes = static_cast<double>(x.gradient_bytes);
  auto fits = [&](double time) {
    double least = 0;
    double most = 0;
    for (const auto& p : x.peers) {
      double low = 0;
      double high = p.averages ? 1 : 0;
      auto bound = [&](double fixed, double slope, double speed) {
        double room = time * speed / bytes - fixed;
        if (slope > 0)
          high = std::min(high, room / slope);
        else if (slope < 0)
          low = std::max(low, room / slope);
        else if (room < 0)
          high = -1;
      };
      double c = p.computes;
      double m = p.holds_model;
      bound(c, holding - m - c, p.upload_bytes_per_second);
      bound(m, computing - c - m, p.download_bytes_per_second);
      if (high < low)
        return false;
      least += low;
      most += high;
    }
    return least <= 1 && most >= 1;
  };
  double low = 0;
  double high = 1e12;
  for (int i = 0; i < 200; ++i) {
    double middle = (low + high) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace

TEST_CASE("equal peers share equally: all-reduce") {
  for (std::size_t n = 1; n <= 24; ++n) {
    auto input = of(times(n, trainer(1e6, 2e6)));
    auto x = plan(input);
    CAPTURE(n);
    CHECK(x.strategy == "all-reduce");
    auto ends = std::minmax_element(x.chunks.begin(), x.chunks.end());
    CHECK(*ends.second - *ends.first <= 1);
  }
}

TEST_CASE("one peer far faster than the rest is a parameter server") {
  auto peers = times(16, trainer(25e6, 25e6));
  peers.push_back(trainer(1e11, 1e11));
  auto x = plan(of(peers, 100));
  CHECK(x.shares.back() > 0.9);
  auto alone = plan(of(peers, 1));
  CHECK(alone.chunks.back() == 1);
  CHECK(alone.strategy == "parameter server");
}

TEST_CASE("fast auxiliaries take the averaging over: byteps") {
  auto peers = times(4, trainer(1e6, 1e6));
  for (const auto& x : times(4, auxiliary(1e10, 1e10)))
    peers.push_back(x);
  auto x = plan(of(peers, 8));
  CHECK(x.strategy == "byteps");
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(x.chunks[i] == 0);
}

TEST_CASE("the published networks take as long as the model of them says") {
  // 8 x 1 Gb/s, 16 x 0.2 Gb/s, both together, 16 x 0.2 and one of 2.5 Gb/s;
  // full duplex is shared in the model, so each direction has half of a line.
  auto seconds = [](std::vector<planned_peer> peers) {
    return plan(of(std::move(peers))).predicted_seconds;
  };
  auto fast = times(8, trainer(125e6, 125e6));
  auto slow = times(16, trainer(25e6, 25e6));
  auto both = fast;
  both.insert(both.end(), slow.begin(), slow.end());
  auto server = slow;
  server.push_back(trainer(312.5e6, 312.5e6));
  auto all_reduce = [](std::size_t n, double speed) {
    double peers = static_cast<double>(n);
    return (1 + (peers - 2) / peers) * 1e8 / speed;
  };
  CHECK(seconds(fast) == doctest::Approx(all_reduce(8, 125e6)).epsilon(1e-3));
  CHECK(seconds(slow) == doctest::Approx(all_reduce(16, 25e6)).epsilon(1e-3));
  CHECK(seconds(both) < 0.6 * all_reduce(24, 25e6));
  CHECK(seconds(server) < 0.65 * all_reduce(17, 25e6));
}

TEST_CASE("no shares are faster than the plan's") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::uniform_real_distribution<double> exponent{3.5, 9.0};
    auto speed = [&] {
      return std::round(std::pow(10.0, exponent(random)) / 1e3) * 1e3;
    };
    std::vector<planned_peer> peers;
    std::size_t n = 1 + random() % 20;
    for (std::size_t i = 0; i < n; ++i) {
      bool trains = i == 0 || random() % 3 != 0;
      auto x = trains ? trainer(speed(), speed()) : auxiliary(speed(), speed());
      x.computes = trains && (i == 0 || random() % 5 != 0);
      x.averages = i == 0 || random() % 5 != 0;
      peers.push_back(x);
    }
    auto input = of(peers, 4000000000u);
    auto x = plan(input);
    double best = least_seconds(input);
    CHECK(x.predicted_seconds >= best * (1 - 1e-6) - 1e-9);
    CHECK(x.predicted_seconds <= best * (1 + 1e-3) + 1e-9);
    CHECK(x.binding.find("solver") == std::string::npos);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x.chunks[i];
      if (!peers[i].averages)
        CHECK(x.chunks[i] == 0);
    }
    CHECK(sum == input.chunks);
    CHECK(std::accumulate(x.shares.begin(), x.shares.end(), 0.0)
          == doctest::Approx(1));
    auto again = plan(input);
    CHECK(again.chunks == x.chunks);
    CHECK(plan_digest(again) == plan_digest(x));
  }
}

TEST_CASE("figures that cannot be true still give a plan") {
  std::vector<double> odd{0,
                          -1,
                          1e-300,
                          1e300,
                          std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity(),
                          1e6};
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::vector<planned_peer> peers;
    std::size_t n = 1 + random() % 12;
    for (std::size_t i = 0; i < n; ++i) {
      auto x = trainer(odd[random() % odd.size()], odd[random() % odd.size()]);
      x.computes = random() % 2;
      x.holds_model = random() % 2;
      x.averages = random() % 2;
      peers.push_back(x);
    }
    auto input = of(peers, static_cast<std::uint32_t>(1 + random() % 1000));
    auto x = plan(input);
    CHECK(std::accumulate(x.chunks.begin(), x.chunks.end(), 0u)
          == input.chunks);
    CHECK(std::isfinite(x.predicted_seconds));
    CHECK_FALSE(x.binding.empty());
  }
  CHECK_THROWS_AS(plan(of({})), std::invalid_argument);
}

TEST_CASE("an unknown bandwidth counts as the median of the known ones") {
  auto known = plan(of({trainer(1e6, 1e6), trainer(3e6, 3e6), trainer(9e6, 9e6),
                        trainer(3e6, 3e6)}));
  auto unknown = plan(of({trainer(1e6, 1e6), trainer(3e6, 3e6),
                          trainer(9e6, 9e6), trainer(0, 0)}));
  CHECK(known.chunks == unknown.chunks);
  auto nothing = plan(of(times(3, trainer(0, 0))));
  CHECK(nothing.strategy == "all-reduce");
}

TEST_CASE("chunks follow weights by largest remainder, ties by order") {
  using counts = std::vector<std::uint32_t>;
  CHECK(whole_chunks({1, 1, 1}, 4) == counts{2, 1, 1});
  CHECK(whole_chunks({1, 2, 1}, 1) == counts{0, 1, 0});
  CHECK(whole_chunks({0, 0}, 3) == counts{2, 1});
  CHECK(whole_chunks({std::numeric_limits<double>::quiet_NaN(), -1, 2}, 3)
        == counts{0, 0, 3});
  CHECK(whole_chunks({0.5, 0.25, 0.25}, 0) == counts{0, 0, 0});
  CHECK_THROWS_AS(whole_chunks({}, 3), std::invalid_argument);
}

TEST_CASE("a contract gives the planner its members as they are") {
  group_contract contract;
  contract.gradient_values = 1000;
  contract.chunk_values = 300;
  contract.members.resize(3);
  contract.members[0].who = {peer(0), {"a", 1}};
  contract.members[0].samples = 4;
  contract.members[0].upload_bytes_per_second = 5e6;
  contract.members[1].who = {peer(1), {"b", 0}};
  contract.members[2].who = {peer(2), {"c", 1}};
  contract.members[2].role = role::auxiliary;
  auto x = collaboration_of(contract);
  CHECK(x.chunks == 4);
  CHECK(x.gradient_bytes == 4000);
  CHECK(x.target_batch == 4);
  CHECK(x.peers[0].computes);
  CHECK(x.peers[0].upload_bytes_per_second == 5e6);
  CHECK_FALSE(x.peers[1].computes);
  CHECK(x.peers[1].holds_model);
  CHECK(x.peers[1].averages); // Nobody says that a line is missing.
  CHECK_FALSE(x.peers[2].holds_model);
  CHECK(plan_digest(contract) == plan_digest(plan(x)));
  contract.members[0].upload_bytes_per_second = 5e9;
  contract.members[2].upload_bytes_per_second = 5e3;
  CHECK(plan_digest(contract) != plan_digest(plan(x)));
}

TEST_CASE("fixed shares follow their rule, whatever the lines are") {
  auto x = of({trainer(1e6, 9e6), trainer(5e6, 2e6), trainer(2e6, 8e6),
               auxiliary(1e9, 1e9)},
              90);
  x.rule = share_rule::all_reduce;
  CHECK(plan(x).chunks == std::vector<std::uint32_t>{30, 30, 30, 0});
  CHECK(plan(x).strategy == "all-reduce");
  x.rule = share_rule::parameter_server;
  CHECK(plan(x).chunks == std::vector<std::uint32_t>{0, 0, 0, 90});
  // Of a line the slower direction counts; clients serve nobody.
  x.peers.pop_back();
  CHECK(plan(x).chunks == std::vector<std::uint32_t>{0, 90, 0});
  x.peers[1].averages = false;
  CHECK(plan(x).chunks == std::vector<std::uint32_t>{0, 0, 90});
  CHECK(plan(x).strategy == "parameter server");
  x.rule = share_rule::all_reduce;
  CHECK(plan(x).chunks == std::vector<std::uint32_t>{45, 0, 45});
}

TEST_CASE("every share rule has a name that reads back") {
  for (auto rule : {share_rule::planned, share_rule::all_reduce,
                    share_rule::parameter_server})
    CHECK(share_rule_named(to_string(rule)) == rule);
  CHECK_FALSE(share_rule_named("ring"));
}

TEST_CASE("members of one rule plan alike, and of another do not") {
  group_contract contract;
  contract.gradient_values = 1000;
  contract.chunk_values = 10;
  contract.members.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    contract.members[i].who = {peer(i), {"a", 1}};
    contract.members[i].samples = 4;
    contract.members[i].upload_bytes_per_second = i == 1 ? 1e8 : 1e6;
  }
  auto planned = plan_digest(contract);
  CHECK(plan_digest(contract, share_rule::planned) == planned);
  CHECK(plan_digest(contract, share_rule::all_reduce) != planned);
  CHECK(plan_digest(contract, share_rule::parameter_server)
        != plan_digest(contract, share_rule::all_reduce));
}

TEST_CASE("a thin connection between two gets less of the gradient, and is "
          "named") {
  auto input = of(times(4, trainer(1e6, 1e6)), 4000);
  auto free = plan(input);
  input.limits = {{1, 2, 2e5}};
  auto x = plan(input);
  // What the two average passes over it: their shares together, at most
  // 2e5 * T, and the others have the rest.
  CHECK(x.shares[1] + x.shares[2] < 0.35);
  CHECK(x.predicted_seconds > free.predicted_seconds);
  CHECK(x.predicted_seconds < exchange_seconds(input, free.shares) * 0.75);
  CHECK(exchange_seconds(input, x.shares)
        == doctest::Approx(x.predicted_seconds));
  input.limits = {{1, 2, 1e3}};
  x = plan(input);
  CHECK(x.shares[1] + x.shares[2] < 0.01);
  input.rule = share_rule::all_reduce;
  x = plan(input);
  CHECK(x.shares[1] == doctest::Approx(0.25));
  CHECK(x.binding.find("connection from 02000000 to 03000000")
        != std::string::npos);
}

TEST_CASE("limits that cannot be true still give a plan") {
  auto input = of(times(3, trainer(1e6, 1e6)), 300);
  for (double odd :
       {0.0, -1.0, 1e300, 1e-300, std::numeric_limits<double>::quiet_NaN(),
        std::numeric_limits<double>::infinity()}) {
    CAPTURE(odd);
    input.limits = {{0, 1, odd}, {1, 0, odd}, {1, 2, 1e5}};
    auto x = plan(input);
    CHECK(std::accumulate(x.chunks.begin(), x.chunks.end(), 0u) == 300);
    CHECK(std::isfinite(x.predicted_seconds));
  }
}

TEST_CASE("a contract's slow pairs are limits between its members") {
  group_contract contract;
  contract.gradient_values = 1000;
  contract.chunk_values = 10;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    group_member m;
    m.who.id.bytes[0] = i;
    m.who.where.port = 7000;
    m.samples = 1;
    contract.members.push_back(m);
  }
  auto other = contract.members[0].who.id;
  other.bytes[0] = 9;
  contract.members[1].slow_pairs = {{contract.members[2].who.id, 5e3},
                                    {other, 1},
                                    {contract.members[1].who.id, 1},
                                    {contract.members[2].who.id, 1}};
  auto x = collaboration_of(contract);
  REQUIRE(x.limits.size() == 1);
  CHECK(x.limits[0].from == 1);
  CHECK(x.limits[0].to == 2);
  CHECK(x.limits[0].bytes_per_second == 5e3);
  // While both others send to it, less than half of an equal part of its line
  // is the pair's doing; more is not.
  contract.members[2].download_bytes_per_second = 21e3;
  CHECK(collaboration_of(contract).limits.size() == 1);
  contract.members[2].download_bytes_per_second = 19e3;
  CHECK(collaboration_of(contract).limits.empty());
  contract.members[2].upload_bytes_per_second = 21e3; // No line downloads less.
  CHECK(collaboration_of(contract).limits.size() == 1);
  auto free = contract;
  free.members[1].slow_pairs.clear();
  CHECK(plan_digest(free) != plan_digest(contract));
}

TEST_CASE("who has no line to some trainer averages nothing, but gets and "
          "gives all") {
  group_contract contract;
  contract.gradient_values = 1000;
  contract.chunk_values = 10;
  for (std::uint8_t i = 1; i <= 4; ++i) {
    group_member m;
    m.who.id.bytes[0] = i;
    m.samples = 1;
    m.upload_bytes_per_second = i * 1e6; // The last two would average the most.
    m.download_bytes_per_second = i * 1e6;
    contract.members.push_back(m);
  }
  // It is enough that one of the two says so.
  contract.members[2].relayed = {contract.members[3].who.id};
  auto x = plan(collaboration_of(contract));
  REQUIRE(x.chunks.size() == 4);
  CHECK(x.chunks[0] + x.chunks[1] == 100);
  CHECK(x.chunks[2] == 0);
  CHECK(x.chunks[3] == 0);
  CHECK(plan_input_digest(contract) != plan_input_digest([&] {
          auto all = contract;
          all.members[2].relayed.clear();
          return all;
        }()));
  // Two helpers need no line.
  contract.members[2].role = contract.members[3].role = role::auxiliary;
  contract.members[2].samples = contract.members[3].samples = 0;
  x = plan(collaboration_of(contract));
  CHECK(x.chunks[2] > 0);
  CHECK(x.chunks[3] > 0);
}
