/// Random strategy problems whose answers are not trivial: auxiliary peers,
/// slow uplinks, open roles, thin and blocked links.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "runtime/planning/strategy_problem.hpp"

namespace potluck::test {

class random_networks {
public:
  explicit random_networks(std::uint64_t seed) : random_(seed) {
  }

  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_() % n);
  }

  bool chance(double p) {
    return std::uniform_real_distribution<double>{}(random_) < p;
  }

  /// Ten to a power between the two.
  double power(double low, double high) {
    return std::pow(10.0,
                    std::uniform_real_distribution<double>{low, high}(random_));
  }

  strategy_problem problem(std::size_t peers, bool open, bool links) {
    strategy_problem x;
    x.gradient_bytes = 1e6;
    double width = chance(0.5) ? 0.7 : 2.5;
    double samples = 0;
    for (std::size_t i = 0; i < peers; ++i) {
      strategy_peer p;
      p.id = "p" + std::to_string(i);
      p.samples_per_second = power(0, width);
      p.upload = power(5.5, 5.5 + width);
      p.download = power(6, 6 + width);
      if (!open || chance(0.2))
        p.computes = true;
      if (i > 0 && chance(0.3)) { // Auxiliary.
        p.computes = false;
        p.holds_model = false;
        p.samples_per_second = 0;
      } else if (chance(0.1)) {
        p.computes = false; // Only learns.
      }
      samples += p.samples_per_second;
      x.peers.push_back(p);
    }
    if (links)
      for (std::size_t i = 0; i < peers; ++i)
        for (std::size_t j = 0; j < peers; ++j)
          if (i != j && chance(0.3))
            x.links.push_back({"p" + std::to_string(i), "p" + std::to_string(j),
                               chance(0.2) ? 0 : power(5, 6.5)});
    x.target_batch = samples * power(-0.8, 0.5);
    return x;
  }

private:
  std::mt19937_64 random_;
};

} // namespace potluck::test
