#include "runtime/planning/claims_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/planning/planner.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

peer_id member(std::uint8_t i) {
  peer_id result;
  result.bytes[0] = i;
  return result;
}

/// Peers with lines, and what each says of its own.
struct group {
  std::vector<double> lines;
  std::vector<double> claims;
  std::vector<peer_id> ids;
  claims_check check;
  double sum = 0;
  std::size_t rounds = 0;
  std::size_t believed = 0;

  explicit group(std::vector<double> real) : lines(real), claims(real) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      ids.push_back(member(static_cast<std::uint8_t>(i)));
  }

  collaboration input(const std::vector<double>& speeds) const {
    collaboration x;
    x.gradient_bytes = 10'000'000;
    x.chunks = 1000;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      x.peers.emplace_back();
      x.peers.back().id = ids[i];
      x.peers.back().upload_bytes_per_second = speeds[i];
      x.peers.back().download_bytes_per_second = speeds[i];
    }
    return x;
  }

  /// What a round with these figures really takes.
  double takes(const std::vector<double>& figures) const {
    return exchange_seconds(input(lines), plan(input(figures)).shares);
  }

  double equal_shares() const {
    return takes(std::vector<double>(lines.size(), 0));
  }

  void run(std::size_t count, random_stream& random, double noise) {
    for (std::size_t i = 0; i < count; ++i) {
      auto trusts = check.believe();
      auto figures = trusts ? claims : std::vector<double>(lines.size(), 0);
      auto took = takes(figures) * (1 + noise * random.uniform01());
      check.observe(ids, trusts, plan(input(figures)).predicted_seconds, took);
      sum += took;
      ++rounds;
      believed += trusts;
    }
  }
};

} // namespace

TEST_CASE("honest figures are believed, whatever the noise") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    group x{{1e6, 2e6, 5e6, 5e6}};
    x.run(300, random, 0.3);
    CHECK(x.believed == x.rounds);
  }
}

TEST_CASE("a lie makes rounds at worst as slow as equal shares do") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    group x{{1e6, 2e6, 5e6, 5e6}};
    x.claims[0] = 1e9; // Averages nearly all, over the slowest line.
    REQUIRE(x.takes(x.claims) > 1.15 * x.equal_shares());
    x.run(1000, random, 0.1);
    CHECK(x.sum <= 1.1 * 1.1 * 1000 * x.equal_shares());
    CHECK_FALSE(x.check.believe());
  }
}

TEST_CASE("figures are believed again when they are true again") {
  random_stream random{1};
  group x{{1e6, 2e6, 5e6, 5e6}};
  x.claims[0] = 1e9;
  x.run(50, random, 0);
  x.claims[0] = 1e6;
  x.run(claims_check::longest_wait + 2, random, 0);
  CHECK(x.check.believe());
}

TEST_CASE("where rounds are slow whatever the shares, the plan stays") {
  claims_check x;
  std::size_t equal = 0;
  for (int i = 0; i < 1000; ++i) {
    equal += !x.believe();
    x.observe({member(1), member(2)}, x.believe(), 1, 10);
  }
  CHECK(equal >= 5);
  CHECK(equal <= 30);
}

TEST_CASE("another group is believed at first") {
  claims_check x;
  for (std::size_t i = 0; i < claims_check::slow_rounds; ++i) {
    CHECK(x.believe());
    x.observe({member(1), member(2)}, true, 1, 10);
  }
  CHECK_FALSE(x.believe());
  x.observe({member(1), member(3)}, false, 1, 1);
  CHECK(x.believe());
}
