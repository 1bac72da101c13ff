/// Whole peers that somebody tells everything that there is to say.
#include <doctest/doctest.h>

#include "tests/actors/whole_peer.hpp"
#include "tests/support/talker.hpp"

using namespace potluck;
using namespace std::chrono_literals;

TEST_CASE("whatever somebody says, no part of a peer fails, and those of the "
          "run train on") {
  std::size_t said = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    test_world world;
    whole_peer a{world, 1, {}, 100'000};
    whole_peer b{world, 2, {1}, 100'000};
    const auto both = [&](std::uint64_t step) {
      return [&a, &b, step] { return a.step() >= step && b.step() >= step; };
    };
    REQUIRE(world.run_until(both(3), 120s));
    scribbler words{random_stream{seed}};
    // Whoever is sent away comes again as somebody else.
    std::uint8_t number = 7;
    auto x = std::make_unique<talker<scribbler>>(world, number, words);
    for (int i = 0; i < 400; ++i) {
      if (x->closed && number < 250) {
        said += x->said;
        x = std::make_unique<talker<scribbler>>(world, ++number, words);
      }
      x->speak({host(1), 1000});
      world.run_for(10ms);
    }
    said += x->said;
    x.reset();
    for (const auto* who : {&a, &b}) {
      CHECK_FALSE(who->over());
      for (const auto& child : trainers_children)
        CHECK_MESSAGE(who->children.starts(child) == 1, child);
    }
    CHECK(world.run_until(both(std::max(a.step(), b.step()) + 3), 180s));
  }
  CHECK(said > 1000); // Else it was never let speak.
}
