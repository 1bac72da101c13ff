#include "runtime/dht/dht_node.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/dht/sealed_records.hpp"

using namespace potluck;
using namespace potluck::sealed;

namespace {

constexpr time_point now{std::chrono::seconds{1000}};

peer_id owner(std::size_t number) {
  peer_id x;
  x.bytes[0] = 7;
  x.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  x.bytes[2] = static_cast<std::uint8_t>(number);
  return x;
}

/// Stores its own report. Whether it is kept.
bool stores(dht_node& node, const peer_id& who, duration later) {
  const store_records its{1, {report_of(who)}};
  return node.answer(who, its, now + later).accepted == 1;
}

} // namespace

TEST_CASE("who is connected directly has its network's room, node or not") {
  dht_node node{peer(9), 1, made_up(peer(9))};
  node.clocks(1, 1);
  // Where these are nobody can see: they come by way of a hub.
  std::size_t hidden = 0;
  // As fast as signatures are checked, and before the first ones expire.
  const auto pause = std::chrono::milliseconds{6};
  while (stores(node, owner(hidden), hidden * pause))
    REQUIRE(++hidden <= max_key_records);
  CHECK(hidden > max_key_records / 2);
  const auto end = (hidden + 1) * pause;
  CHECK_FALSE(stores(node, peer(1), end));
  node.came({peer(1), {"11.0.1.1", 7000}});
  CHECK(stores(node, peer(1), end));
  // It goes, and is a stranger again.
  node.came({peer(2), {"11.0.2.1", 7000}});
  node.left(peer(2));
  CHECK_FALSE(stores(node, peer(2), end));
}
