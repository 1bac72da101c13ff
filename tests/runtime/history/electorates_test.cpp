#include <doctest/doctest.h>

#include "runtime/history/electorates.hpp"
#include "tests/runtime/history/history_peers.hpp"

using namespace potluck;
using namespace potluck::history_peers;

namespace {

auto is(std::size_t number) {
  return [=](const peer_id& x) { return x == peer(number); };
}

} // namespace

TEST_CASE("a member's word weighs what it computed, and never more than two") {
  electorates x;
  CHECK(x.empty());
  CHECK(x.made(contract({{1, 10}, {2, 20}, {3, 20}, {4, 9000}, {5, 0}}), {}));
  CHECK(x.newest()
        == electorates::weights{{peer(1), 0.5},
                                {peer(2), 1},
                                {peer(3), 1},
                                {peer(4), 2},
                                {peer(5), 0}});
}

TEST_CASE("who was left out or only helped has no say") {
  electorates x;
  auto made = contract({{1, 10}, {2, 10}, {3, 10}, {4, 10}});
  made.members[3].role = role::auxiliary;
  CHECK(x.made(made, {1}));
  CHECK(x.has(peer(1)));
  CHECK_FALSE(x.has(peer(2)));
  CHECK(x.has(peer(3)));
  CHECK_FALSE(x.has(peer(4)));
}

TEST_CASE("a step that one peer made binds it to nobody") {
  electorates x;
  CHECK_FALSE(x.made(contract({{1, 10}}), {}));
  CHECK_FALSE(x.made(contract({{1, 10}, {2, 10}}), {1}));
  CHECK(x.empty());
}

TEST_CASE("those that went are asked with the weights of when they were here") {
  electorates x;
  x.made(contract({{1, 10}, {2, 10}, {3, 20}}), {});
  for (auto i = 0; i < 200; ++i) // As many steps as they like without 3.
    x.made(contract({{1, 10}, {2, 30}, {4, 20}}), {});
  auto then = x.last_with(is(3));
  CHECK(then.members
        == electorates::weights{{peer(1), 1}, {peer(2), 1}, {peer(3), 2}});
  CHECK(then.later == electorates::weights{{peer(4), 1}});
  auto now = x.last_with(is(2));
  CHECK(now.members == x.newest());
  CHECK(now.later.empty());
  CHECK(x.last_with(is(9)).members.empty());
  CHECK(x.of_all().members
        == electorates::weights{
            {peer(1), 0.5}, {peer(2), 1.5}, {peer(3), 2}, {peer(4), 1}});
}

TEST_CASE("whom nobody has trained with for long is forgotten") {
  electorates x;
  for (std::size_t i = 2; i < 2 + electorates::most + 1; ++i)
    x.made(contract({{1, 10}, {i, 10}}), {});
  CHECK_FALSE(x.has(peer(2)));
  CHECK(x.has(peer(3)));
  CHECK(x.has(peer(1)));
}
