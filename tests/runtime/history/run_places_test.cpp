#include "runtime/history/run_places.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/history/history_peers.hpp"

using namespace potluck;
using history_peers::peer;

namespace {

/// Of many, each with an id of its own.
peer_id stranger(std::size_t number) {
  peer_id x;
  x.bytes[1] = 1;
  x.bytes[2] = static_cast<std::uint8_t>(number);
  x.bytes[3] = static_cast<std::uint8_t>(number >> 8);
  return x;
}

std::string run_of(std::size_t number) {
  return "made up " + std::to_string(number);
}

/// Runs of one trainer each, all from one home.
void crowd_in(run_places& x, std::size_t runs,
              const std::string& host = "203.0.113.9") {
  for (std::size_t i = 0; i < runs; ++i)
    x.joined(stranger(i), run_of(i), host);
}

} // namespace

TEST_CASE("made-up runs of one home keep no run of another from its place") {
  run_places x{64};
  crowd_in(x, 200);
  CHECK(x.has(run_of(0)));
  CHECK(x.has(run_of(63)));
  x.joined(peer(1), "poems", "198.51.100.7");
  CHECK_FALSE(x.has("poems")); // Until the places are dealt.
  CHECK(x.of("poems").size() == 1);
  const auto change = x.deal();
  CHECK(change.gained == std::vector<std::string>{"poems"});
  // Who came last goes first.
  CHECK(change.lost == std::vector<std::string>{run_of(63)});
  CHECK(x.has("poems"));
  // It stays, whoever else comes from there.
  for (std::size_t i = 200; i < 900; ++i)
    x.joined(stranger(i), run_of(i), "203.0.113.9");
  CHECK(x.deal().lost.empty());
  CHECK(x.has("poems"));
}

TEST_CASE("forty peers behind the address of a crowd keep their run's place") {
  run_places x{64};
  const std::string school = "203.0.113.9";
  crowd_in(x, 64, school);
  for (std::size_t i = 1; i <= 40; ++i)
    x.joined(peer(i), "poems", school);
  x.deal();
  CHECK(x.has("poems"));
  CHECK(x.of("poems").size() == 40);
  // Others that come keep their places as well: the crowd makes room.
  for (std::size_t i = 41; i <= 48; ++i)
    x.joined(peer(i), "songs", "198.51.100.7");
  const auto change = x.deal();
  CHECK(change.gained == std::vector<std::string>{"songs"});
  CHECK(change.lost.size() == 1);
  CHECK(x.has("poems"));
}

TEST_CASE("a run counts where the fewest others do of its trainers' homes") {
  run_places x{4};
  crowd_in(x, 4);
  // One of its two sits where the crowd does.
  x.joined(peer(1), "poems", "203.0.113.9");
  x.joined(peer(2), "poems", "198.51.100.7");
  for (std::size_t i = 3; i <= 5; ++i)
    x.joined(peer(i), "songs", "203.0.113.9");
  x.deal();
  CHECK(x.has("poems"));
  CHECK(x.has("songs"));
  // A home is as good as the prefix around it.
  run_places y{2};
  y.joined(stranger(1), "one", "203.0.113.1");
  y.joined(stranger(2), "two", "203.0.113.2");
  y.joined(stranger(3), "three", "203.0.113.3");
  y.joined(peer(1), "poems", "198.51.100.7");
  y.deal();
  CHECK(y.has("one"));
  CHECK(y.has("poems"));
}

TEST_CASE("of equal runs those stay that have been here longest") {
  run_places x{3};
  for (std::size_t i = 0; i < 6; ++i)
    x.joined(stranger(i), run_of(i), "10.1." + std::to_string(i) + ".1");
  CHECK(x.deal().gained.empty());
  CHECK(x.has(run_of(2)));
  // What waits gets what becomes free.
  x.left(stranger(1));
  CHECK(x.has(run_of(1))); // Its trainers may come back.
  x.forget(run_of(1));
  const auto change = x.deal();
  CHECK(change.gained == std::vector<std::string>{run_of(3)});
  CHECK(change.lost.empty());
}

TEST_CASE("a run without trainers goes before others of its prefix") {
  run_places x{2};
  x.joined(peer(1), "poems", "198.51.100.7");
  x.joined(peer(2), "songs", "198.51.100.8");
  x.left(peer(1));
  CHECK(x.deal().lost.empty()); // Nobody wants its place.
  x.forget("songs");            // It has a trainer.
  CHECK(x.has("songs"));
  x.joined(peer(3), "prose", "198.51.100.9");
  const auto change = x.deal();
  CHECK(change.lost == std::vector<std::string>{"poems"});
  CHECK(change.gained == std::vector<std::string>{"prose"});
  CHECK(x.of("poems").empty());
  // One that comes again under another name leaves its old run.
  x.joined(peer(3), "songs", "198.51.100.9");
  CHECK(x.of("prose").empty());
  CHECK(x.of("songs").size() == 2);
}
