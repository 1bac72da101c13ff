#include "actors/parked_calls.hpp"

#include <doctest/doctest.h>

#include "tests/support/test_world.hpp"

using namespace potluck;

namespace {

call to(std::uint8_t number, message content) {
  return {contact_of(number), std::move(content), {}};
}

expert_request numbered(std::uint64_t number) {
  expert_request x;
  x.number = number;
  return x;
}

} // namespace

TEST_CASE("calls wait in their order for a peer, which is dialled once") {
  parked_calls x;
  CHECK(x.add(to(2, heartbeat{1})));
  CHECK_FALSE(x.add(to(2, heartbeat{2})));
  CHECK(x.add(to(3, heartbeat{3})));
  const auto all = x.take(peer(2));
  REQUIRE(all.size() == 2);
  CHECK(all[0].to == peer(2));
  CHECK(std::holds_alternative<heartbeat>(all[0].content));
  CHECK(x.take(peer(2)).empty());
  CHECK(x.add(to(2, heartbeat{4})));
}

TEST_CASE("where nobody is, those that call experts have their answer") {
  parked_calls x;
  x.add(to(2, numbered(7)));
  x.add(to(2, heartbeat{1}));
  x.add(to(2, numbered(8)));
  const auto answers = x.give_up(peer(2));
  REQUIRE(answers.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(answers[i].from == peer(2));
    const auto* answer = std::get_if<expert_answer>(&answers[i].content);
    REQUIRE(answer);
    CHECK(answer->number == 7 + i);
    CHECK(answer->outcome == expert_outcome::failed);
  }
  CHECK(x.take(peer(2)).empty());
  CHECK(x.give_up(peer(3)).empty());
}
