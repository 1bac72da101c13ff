/// Large frames and unread answers: what strangers make a peer hold.
#include <doctest/doctest.h>

#include "runtime/strangers/stranger_desk.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using ids = std::vector<connection_id>;

const time_point begin{100s};

large_frames room() {
  return large_frames{{100, 40, 10, 5s}};
}

} // namespace

TEST_CASE("frames of one home share its room, in turn") {
  auto x = room();
  CHECK(x.begin(1, "192.0.2.1", 30, begin));
  CHECK_FALSE(x.begin(2, "192.0.2.1", 20, begin));
  CHECK_FALSE(x.begin(3, "192.0.2.1", 10, begin)); // Behind the second.
  CHECK(x.begin(4, "192.0.2.2", 40, begin));       // Another home's is free.
  CHECK(x.next(begin).empty());
  x.over(1);
  CHECK(x.next(begin) == ids{2, 3});
}

TEST_CASE("what has room, waits, or neither may be over") {
  auto x = room();
  x.over(7);
  CHECK(x.begin(1, "192.0.2.1", 40, begin));
  CHECK_FALSE(x.begin(2, "192.0.2.1", 40, begin));
  x.over(2);
  x.over(1);
  x.over(1);
  CHECK(x.next(begin).empty());
  CHECK(x.begin(3, "192.0.2.1", 40, begin));
}

TEST_CASE("a large frame is not overtaken for ever by small ones") {
  auto x = room();
  CHECK(x.begin(1, "192.0.2.1", 40, begin));
  CHECK(x.begin(2, "192.0.2.2", 40, begin));
  CHECK_FALSE(x.begin(3, "192.0.2.3", 40, begin));
  CHECK_FALSE(x.begin(4, "192.0.2.4", 10, begin));
  x.over(1);
  CHECK(x.next(begin) == ids{3, 4});
}

TEST_CASE("one that does not come makes room for who waits for it") {
  auto x = room();
  std::size_t come = 20; // Of the second.
  const large_frames::progress progress
      = [&](connection_id id) { return id == 2 ? come : 0; };
  CHECK(x.begin(1, "192.0.2.1", 40, begin));
  CHECK(x.begin(2, "192.0.2.2", 20, begin));
  CHECK_FALSE(x.too_slow(begin + 1h, progress)); // Nobody waits.
  CHECK_FALSE(x.begin(3, "192.0.2.2", 30, begin));
  // 20 bytes take 2 s, and the grace. The first does not help the third.
  CHECK_FALSE(x.too_slow(begin + 7s, progress));
  CHECK(x.too_slow(begin + 7s + 1ms, progress) == 2);
  come = 0; // However long it said that it is.
  CHECK_FALSE(x.too_slow(begin + 5s, progress));
  CHECK(x.too_slow(begin + 5s + 1ms, progress) == 2);
  x.over(2);
  CHECK(x.next(begin + 7s) == ids{3});
}

TEST_CASE("sixty that stop a byte short hold what one home may") {
  large_frames x{{limits::large_frames_bytes, limits::large_frames_of_a_home}};
  std::size_t held = 0;
  for (connection_id id = 1; id <= 60; ++id)
    held += x.begin(id, "198.51.100.1", 16 << 20, begin) ? 16 << 20 : 0;
  CHECK(held <= limits::large_frames_of_a_home);
  // Forty of a school send what callers of experts do, in turn.
  std::size_t sent = 0;
  ids now;
  for (connection_id id = 101; id <= 140; ++id)
    if (x.begin(id, "192.0.2.1", 4 << 20, begin))
      now.push_back(id);
  while (!now.empty()) {
    sent += now.size();
    for (auto id : now)
      x.over(id);
    now = x.next(begin);
  }
  CHECK(sent == 40);
}

TEST_CASE("room for medium frames is taken by no larger one") {
  stranger_desk x{1000, 100};
  for (connection_id id = 1; id <= 40; ++id) {
    const auto host = "192.0." + std::to_string(id) + ".1";
    CHECK(x.begins_large(id, host, 17 << 20, begin) == (id <= 2));
  }
  CHECK(x.begins_large(99, "198.51.100.1", 500 << 10, begin));
  CHECK(x.next_large(begin).empty());
  // Those that bring nothing leave theirs to others.
  const large_frames::progress nothing = [](connection_id) { return 0; };
  const auto late = begin + limits::large_frame_grace + 1ms;
  const auto gone = x.too_slow(late, nothing);
  REQUIRE(gone);
  x.ended(gone->id, late);
  CHECK(x.next_large(late) == ids{3});
}

TEST_CASE("while too much waits, the home goes for which most does") {
  unread_answers x{100};
  x.wait(1, "192.0.2.1", 40);
  x.wait(2, "198.51.100.1", 25);
  x.wait(3, "198.51.100.1", 35);
  CHECK_FALSE(x.gives_way());
  x.wait(1, "192.0.2.1", 45);
  CHECK(x.gives_way() == 3);
  x.forget(3);
  CHECK_FALSE(x.gives_way());
  x.wait(2, "198.51.100.1", 0);
  x.forget(2);
  x.wait(1, "192.0.2.1", 101);
  CHECK(x.gives_way() == 1);
}
