#include "runtime/dht/silent_nodes.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/dht/sealed_records.hpp"

using namespace potluck;
using namespace potluck::sealed;
using namespace std::chrono_literals;

TEST_CASE(
    "a node is put off from its second silence on, each time for longer") {
  silent_nodes all;
  time_point now{1s};
  all.failed(peer(1), now);
  CHECK_FALSE(all.puts_off(peer(1), now));
  duration wait = silent_nodes::shortest;
  for (int i = 0; i < 40; ++i) {
    all.failed(peer(1), now);
    CHECK(all.puts_off(peer(1), now + wait - 1ms));
    CHECK_FALSE(all.puts_off(peer(1), now + wait));
    now += wait;
    wait = std::min(2 * wait, silent_nodes::longest);
  }
  CHECK_FALSE(all.puts_off(peer(2), now));
  all.failed(peer(1), now);
  all.heard(peer(1));
  CHECK_FALSE(all.puts_off(peer(1), now));
  all.failed(peer(1), now);
  CHECK_FALSE(all.puts_off(peer(1), now));
}

TEST_CASE("however many are silent, so many are remembered") {
  silent_nodes all;
  const auto number = [](std::size_t i) {
    auto x = peer(1);
    x.bytes[1] = static_cast<std::uint8_t>(i);
    x.bytes[2] = static_cast<std::uint8_t>(i >> 8);
    return x;
  };
  for (std::size_t i = 0; i < 3 * silent_nodes::most; ++i) {
    all.failed(number(i), time_point{1s});
    all.failed(number(i), time_point{1s});
  }
  std::size_t put_off = 0;
  for (std::size_t i = 0; i < 3 * silent_nodes::most; ++i)
    put_off += all.puts_off(number(i), time_point{2s});
  CHECK(put_off == silent_nodes::most);
}
