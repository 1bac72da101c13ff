#include "runtime/step/gradient_lines.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_joined peer(std::uint8_t number, role what, bool relayed) {
  peer_joined x;
  x.who.id.bytes[0] = number;
  x.role = what;
  x.relayed = relayed;
  return x;
}

/// Looks once a second. @returns What was said.
std::vector<solitude::word> watch(gradient_lines& it, time_point& now,
                                  std::chrono::seconds time) {
  std::vector<solitude::word> said;
  for (const auto end = now + time; now < end; now += 1s)
    if (auto word = it.look(now))
      said.push_back(*word);
  return said;
}

} // namespace

TEST_CASE("who has only hubs between itself and the others says what to do") {
  gradient_lines it;
  time_point now{1h};
  it.joined(peer(1, role::bootstrap, false));
  CHECK(watch(it, now, 1h).empty()); // Nobody else trains.
  it.joined(peer(2, role::trainer, true));
  it.joined(peer(3, role::trainer, true));
  CHECK(watch(it, now, 20s).empty());
  const auto said = watch(it, now, 5min);
  REQUIRE(said.size() == 4); // After 20, 50, 110 and 230 s.
  CHECK(said[0].alone);
  CHECK(said[0].met);
  CHECK(said[0].sentence.find("`potluck bootstrap --run NAME`")
        != std::string::npos);
  // Circuits that nothing comes of are closed.
  it.left(peer(2, role::trainer, true).who.id);
  it.left(peer(3, role::trainer, true).who.id);
  CHECK(watch(it, now, 5min).size() == 1); // After 470 s.
  CHECK(it.trouble() == "no line for gradients");
  REQUIRE(it.last_word());
  SUBCASE("until one of them has a line of its own") {
    it.joined(peer(3, role::trainer, false));
  }
  SUBCASE("until somebody comes that averages") {
    it.joined(peer(4, role::auxiliary, false));
  }
  const auto over = watch(it, now, 1min);
  REQUIRE(over.size() == 1);
  CHECK_FALSE(over[0].alone);
  CHECK_FALSE(it.last_word());
  CHECK(it.trouble().empty());
}

TEST_CASE("an auxiliary is needed where only hubs lead to trainers") {
  gradient_lines it;
  CHECK_FALSE(it.needs_auxiliary()); // Nobody trains.
  it.joined(peer(1, role::auxiliary, false));
  CHECK_FALSE(it.needs_auxiliary());
  it.joined(peer(2, role::trainer, true));
  it.joined(peer(3, role::trainer, true));
  CHECK(it.needs_auxiliary());
  it.joined(peer(3, role::trainer, false));
  CHECK_FALSE(it.needs_auxiliary());
}
