#include "runtime/relay/held_frames.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

incoming_frame frame(std::uint8_t number) {
  incoming_frame x;
  x.head = {number};
  return x;
}

} // namespace

TEST_CASE("what is held comes in its order, once") {
  held_frames x;
  CHECK(x.first() == 0);
  x.hold(7, frame(1), start);
  x.hold(8, frame(2), start);
  CHECK(x.first() == 7);
  const auto all = x.take();
  REQUIRE(all.size() == 2);
  CHECK(all[0].what.head == frame(1).head);
  CHECK(all[1].on == 8);
  CHECK(x.take().empty());
  CHECK(x.first() == 0);
}

TEST_CASE("a circuit that is silent is not waited for any longer, a slow one "
          "is") {
  held_frames x;
  CHECK(x.in_order(false, start + 1h)); // Nothing waits.
  x.hold(7, frame(1), start);
  CHECK(x.in_order(false, start + held_frames::longest));
  CHECK_FALSE(x.in_order(false, start + held_frames::longest + 1ms));
  x.circuit_spoke(start + 9s);
  x.hold(7, frame(2), start + 12s);
  CHECK(x.in_order(false, start + 9s + held_frames::longest));
  CHECK_FALSE(x.in_order(false, start + 9s + held_frames::longest + 1ms));
}

TEST_CASE("no more are held than fit") {
  held_frames x;
  for (std::size_t i = 0; i < held_frames::most; ++i)
    x.hold(7, frame(1), start);
  CHECK(x.in_order(false, start));
  x.hold(7, frame(1), start);
  CHECK_FALSE(x.in_order(false, start));
}

TEST_CASE("a circuit that goes on speaking is waited for until all that it can "
          "bring has come") {
  held_frames x;
  x.hold(7, frame(1), start);
  auto now = start;
  for (; now <= start + held_frames::longest_in_all; now += 5s) {
    x.circuit_spoke(now);
    CHECK(x.in_order(false, now));
  }
  x.circuit_spoke(now);
  CHECK_FALSE(x.in_order(false, now));
}

TEST_CASE("a stranger's large frames do not wait") {
  held_frames x;
  incoming_frame large;
  large.body.size = held_frames::most_of_a_stranger + 1;
  x.hold(7, large, start);
  CHECK(x.in_order(false, start));
  CHECK_FALSE(x.in_order(true, start));
  // Nor does what was taken count.
  x.take();
  x.hold(7, frame(1), start);
  CHECK(x.in_order(true, start));
}

TEST_CASE("all sessions together hold no more than fits") {
  const auto all = std::make_shared<std::atomic<std::size_t>>(0);
  incoming_frame piece;
  piece.body.size = held_frames::most_of_a_stranger / 2;
  std::vector<std::unique_ptr<held_frames>> sessions;
  const auto enough = held_frames::most_of_all / piece.body.size + 1;
  while (sessions.size() < enough) {
    sessions.push_back(std::make_unique<held_frames>(all));
    CHECK(sessions.back()->in_order(true, start));
    sessions.back()->hold(7, piece, start);
  }
  CHECK_FALSE(sessions.back()->in_order(true, start));
  CHECK(sessions.back()->in_order(false, start));
  sessions.front()->take(); // What was taken counts no more,
  CHECK(sessions.back()->in_order(true, start));
  sessions.clear(); // nor what nobody holds.
  CHECK(*all == 0);
}
