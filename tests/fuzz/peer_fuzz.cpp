/// What somebody may say to a whole peer: letters of every kind, sound and
/// bent, in any order, with bodies of their own, over lines that come and go.
///
/// The input is a script: which letter comes next, which of its fields are
/// others, when time passes. A trainer with all of its actors hears them, on
/// the network and the clock of the tests. None of its actors may end, and it
/// goes on training. tools/fuzz runs it with libFuzzer, peer_fuzz_test.cpp
/// without.
#include <cstdlib>

#include "tests/actors/whole_peer.hpp"
#include "tests/fuzz/input_script.hpp"
#include "tests/support/talker.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr int most_letters = 300;

/// A script as a source of chance.
struct script_chance {
  std::uint64_t below(std::uint64_t bound) {
    return bound > 256 ? from->number() % bound : from->byte() % bound;
  }
  std::uint64_t next() {
    return from->byte();
  }
  input_script* from;
};

using script_scribbler = basic_scribbler<script_chance>;
using script_talker = talker<script_scribbler>;

void insist(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace

/// @returns How many letters it was told.
std::size_t fuzz_peer(const std::uint8_t* data, std::size_t size) {
  input_script script{data, size};
  test_world world;
  whole_peer it{world, 1, {}, 1'000'000};
  insist(world.run_until([&] { return it.step() >= 2; }, 120s));
  script_scribbler words{script_chance{&script}};
  std::size_t said = 0;
  std::uint8_t number = 7;
  auto other = std::make_unique<script_talker>(world, number, words);
  for (int i = 0; i < most_letters && !script.over(); ++i) {
    if (other->closed && number < 250) {
      said += other->said;
      other = std::make_unique<script_talker>(world, ++number, words);
    }
    other->speak({host(1), 1000});
    if (script.byte() % 4 == 0)
      world.run_for(10ms * (1 + script.byte() % 16));
  }
  said += other->said;
  other.reset();
  insist(!it.over());
  for (const auto& child : trainers_children)
    insist(it.children.starts(child) == 1);
  insist(world.run_until([&, last = it.step()] { return it.step() > last; },
                         240s));
  return said;
}
