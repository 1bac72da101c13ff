/// Deadlines of whole peers: nobody is suspected for a slow line, and whoever
/// falls silent on a fast one is noticed soon.
#include <doctest/doctest.h>

#include "actors/peer.hpp"
#include "runtime/config.hpp"
#include "runtime/matchmaking/answer_patience.hpp"
#include "runtime/membership/session_pulse.hpp"
#include "runtime/membership/silence_detector.hpp"
#include "tests/actors/whole_peer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

struct trio {
  trio(std::uint64_t steps, duration one_way, duration sample) {
    for (std::uint8_t i = 1; i <= 3; ++i) {
      for (std::uint8_t j = 1; j < i; ++j)
        world.network.delay(host(i), host(j), one_way);
      auto c = tiny_peer(world.network, i,
                         i == 1 ? std::vector<std::uint8_t>{}
                                : std::vector<std::uint8_t>{1},
                         steps);
      c.batch_time = [sample](std::uint32_t n) { return n * sample; };
      peers.push_back(std::make_unique<whole_peer>(world, std::move(c)));
    }
  }
  bool all(const std::function<bool(whole_peer&)>& condition) {
    return std::all_of(peers.begin(), peers.end(),
                       [&](auto& x) { return condition(*x); });
  }

  test_world world;
  std::vector<std::unique_ptr<whole_peer>> peers;
};

} // namespace

TEST_CASE("nobody is suspected on a satellite's lines") {
  for (auto one_way : {duration{300ms}, duration{600ms}}) {
    CAPTURE(one_way.count());
    trio x{100'000, one_way, 40ms};
    auto together = [](whole_peer& p) {
      auto rounds = p.observer->events("round");
      return !rounds.empty()
             && field<std::uint64_t>(rounds.back(), "members") == 3;
    };
    // The first trains alone until the others have connected.
    // (Looked at once a second: each look copies all that was told.)
    for (int i = 0; i < 300 && !x.all(together); ++i)
      x.world.run_for(1s);
    REQUIRE(x.all(together));
    auto begin = x.peers[0]->observer->events("round").size();
    auto step = x.peers[0]->step();
    for (int i = 0; i < 600 && x.peers[0]->step() < step + 8; ++i)
      x.world.run_for(1s);
    REQUIRE(x.peers[0]->step() >= step + 8);
    for (auto& p : x.peers)
      CHECK(p->observer->events("departure").empty());
    auto rounds = x.peers[0]->observer->events("round");
    for (std::size_t i = begin; i < rounds.size(); ++i) {
      CHECK(field<std::string>(rounds[i], "outcome") == "committed");
      CHECK(field<std::uint64_t>(rounds[i], "members") == 3);
      CHECK(field<std::uint64_t>(rounds[i], "left_out") == 0);
      CHECK_FALSE(field<bool>(rounds[i], "healed"));
    }
    for (auto& p : x.peers)
      p->leave();
    x.world.run_for(1min);
  }
}

TEST_CASE("a silent member of a fast group is noticed within the floor") {
  for (auto one_way : {duration{1ms}, duration{20ms}, duration{100ms}}) {
    CAPTURE(one_way.count());
    trio x{2000, one_way, 2ms};
    // Long enough for a few heartbeats.
    REQUIRE(x.world.run_until(
        [&] { return x.all([](auto& p) { return p.step() >= 20; }); }, 300s));
    x.world.run_for(10s);
    x.world.network.silence(host(3), host(1));
    x.world.network.silence(host(3), host(2));
    auto began = x.world.now();
    auto step = x.peers[0]->step();
    REQUIRE(x.world.run_until(
        [&] {
          return !x.peers[0]->observer->events("departure").empty()
                 && !x.peers[1]->observer->events("departure").empty();
        },
        60s));
    // The silence counts from the last sign of life; it is looked for once a
    // heartbeat.
    CHECK(x.world.now() - began <= silence_detector::settings{}.floor
                                       + 6 * one_way
                                       + 2 * limits::heartbeat_interval);
    // And the step goes on without it.
    REQUIRE(x.world.run_until([&] { return x.peers[0]->step() > step + 2; },
                              limits::answer_floor + limits::round_floor
                                  + 60 * one_way + 5s));
    for (auto& p : x.peers)
      p->leave();
    x.world.run_for(1min);
  }
}
