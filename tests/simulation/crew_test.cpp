#include "tools/lab/sim/crew.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

using potluck::simulation::crew;

TEST_CASE("a crew works in as many threads as it has, turn after turn") {
  for (unsigned size : {1u, 2u, 5u}) {
    crew all{size};
    CHECK(all.size() == size);
    for (int turn = 0; turn < 100; ++turn) {
      std::vector<std::thread::id> who(size);
      all.run([&](unsigned i) { who[i] = std::this_thread::get_id(); });
      CHECK((who[0] == std::this_thread::get_id()));
      CHECK(std::set(who.begin(), who.end()).size() == size);
      CHECK(std::count(who.begin(), who.end(), std::thread::id{}) == 0);
    }
  }
}

TEST_CASE("what one of a crew throws, its caller gets when all are done") {
  crew all{3};
  std::vector<int> done(3);
  auto work = [&](unsigned i) {
    done[i] = 1;
    if (i > 0)
      throw std::runtime_error{"number " + std::to_string(i)};
  };
  CHECK_THROWS_WITH(all.run(work), "number 1");
  CHECK(done == std::vector<int>{1, 1, 1});
  all.run([&](unsigned i) { done[i] = 2; });
  CHECK(done == std::vector<int>{2, 2, 2});
}
