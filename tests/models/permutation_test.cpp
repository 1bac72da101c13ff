#include "models/permutation.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <vector>

using namespace potluck;

TEST_CASE("a permutation meets every number once, whatever their count") {
  for (std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 100u, 1000u})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const permutation p(n, seed);
      std::set<std::uint64_t> met;
      for (std::uint64_t i = 0; i < n; ++i) {
        CHECK(p(i) < n);
        met.insert(p(i));
      }
      CHECK(met.size() == n);
    }
  CHECK_THROWS_AS(permutation(0, 1), std::invalid_argument);
}

TEST_CASE("seeds shuffle differently") {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const permutation p(50, seed);
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i < 50; ++i)
      order.push_back(p(i));
    orders.insert(order);
  }
  CHECK(orders.size() == 20);
}
