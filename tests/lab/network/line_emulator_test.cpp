#include "tools/lab/network/line_emulator.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using load = line_emulator::load;
using fate = line_emulator::passage::fate;

const time_point start{1h};

/// Two machines, of which 0 sends to 1.
struct two {
  explicit two(load what, const access_line& a = {}, const access_line& b = {},
               std::uint64_t seed = 1)
      : net{seed, what} {
    net.add(a);
    net.add(b);
  }
  line_emulator::passage send(std::size_t bytes, time_point at = start,
                              bool urgent = false) {
    return net.send(at, {0, 1, bytes, 8 * bytes, urgent, false}, flow);
  }

  line_emulator net;
  line_emulator::flow flow;
};

} // namespace

TEST_CASE("packets find a full queue; streams wait in one without an end") {
  access_line slow;
  slow.upload = 1e6;
  for (auto what : {load::packets, load::streams}) {
    two x{what, slow};
    int passed = 0;
    for (int i = 0; i < 1000; ++i)
      passed += x.send(1000).what == fate::passes;
    CHECK(passed == (what == load::packets ? 101 : 1000));
    CHECK(x.net.of(0).dropped == 1000u - passed);
  }
}

TEST_CASE("a lost packet is gone; a stream that loses one arrives later") {
  access_line bad;
  bad.loss_up = 0.3;
  bad.delay = 60ms;
  two packets{load::packets, bad};
  two stream{load::streams, bad};
  int gone = 0, late = 0;
  for (int i = 0; i < 1000; ++i) {
    gone += packets.send(1000).what == fate::lost;
    stream.flow = {};
    auto x = stream.send(1000);
    CHECK(x.what == fate::passes);
    CHECK((x.arrives == start + 60ms || x.arrives == start + 300ms));
    late += x.arrives > start + 60ms;
  }
  CHECK(gone == doctest::Approx(300).epsilon(0.15));
  CHECK(late == doctest::Approx(300).epsilon(0.15));
  CHECK(stream.net.of(0).lost == static_cast<std::uint64_t>(late));
}

TEST_CASE("the receiver's losses count on its way down alone") {
  access_line bad;
  bad.loss_down = 0.9999;
  two x{load::packets, {}, bad};
  CHECK(x.send(1000).what == fate::lost);
  CHECK(x.net.send(start, {1, 0, 1000, 0, false, false}, x.flow).what
        == fate::passes);
}

TEST_CASE("what is urgent waits for a quarter of a second at each line") {
  access_line slow;
  slow.upload = slow.download = 1e6;
  two x{load::streams, slow, slow};
  CHECK(x.send(2'000'000).left == start + 2s);
  line_emulator::flow other;
  const line_emulator::parcel urgent{0, 1, 1000, 0, true, false};
  CHECK(x.net.send(start, urgent, other).left == start + 251ms);
  CHECK(*x.net.come_down(start, {0, 1, 2'000'000, 0, false, false}, x.flow)
        == start + 2s);
  CHECK(*x.net.come_down(start, urgent, other) == start + 251ms);
  // But it passes nothing of its own flow.
  CHECK(x.send(1000, start, true).left == start + 2001ms);
}

TEST_CASE("a bit that flips is one of those that may") {
  access_line noisy;
  noisy.corrupt = 1;
  two x{load::streams, noisy};
  for (int i = 0; i < 100; ++i) {
    auto flipped = x.send(3).flipped;
    REQUIRE(flipped);
    CHECK(*flipped < 24);
  }
  CHECK_FALSE(x.send(0).flipped);
  CHECK(x.net.totals().corrupted == 100);
}

TEST_CASE("no accident befalls what is spared") {
  access_line bad;
  bad.loss_up = bad.duplicate = bad.reorder = bad.corrupt = 0.9999;
  two x{load::packets, bad};
  for (int i = 0; i < 100; ++i) {
    auto how = x.net.send(start, {0, 1, 10, 80, false, true}, x.flow);
    CHECK(how.what == fate::passes);
    CHECK(how.copies == 1);
    CHECK_FALSE(how.flipped);
    CHECK(how.arrives == start);
  }
}

TEST_CASE("partitions overlap, and streams are not held up here") {
  for (auto what : {load::packets, load::streams}) {
    two x{what};
    auto one = x.net.part({0});
    auto other = x.net.part({1});
    CHECK(x.net.separated(0, 1));
    CHECK((x.send(10).what == fate::passes) == (what == load::streams));
    x.net.reunite(one);
    CHECK(x.net.separated(1, 0));
    x.net.reunite(other);
    CHECK_FALSE(x.net.separated(0, 1));
    CHECK(x.send(10).what == fate::passes);
  }
}

TEST_CASE("one seed draws the same accidents again, another one others") {
  access_line bad;
  bad.loss_up = bad.duplicate = bad.reorder = bad.corrupt = 0.3;
  bad.jitter = 30ms;
  auto history = [&](std::uint64_t seed) {
    two x{load::packets, bad, bad, seed};
    std::vector<std::tuple<fate, duration, unsigned, std::size_t>> result;
    for (int i = 0; i < 200; ++i) {
      auto how = x.send(100, start + i * 1ms);
      result.emplace_back(how.what, how.arrives.time_since_epoch(), how.copies,
                          how.flipped.value_or(0));
    }
    return result;
  };
  CHECK(history(1) == history(1));
  CHECK(history(1) != history(2));
}

TEST_CASE("the shortest way is between the two machines with least delay") {
  access_line near, far;
  near.delay = 5ms;
  far.delay = 70ms;
  two x{load::streams, far, near};
  CHECK(x.net.shortest_way() == 75ms);
  x.net.add(near);
  CHECK(x.net.shortest_way() == 10ms);
  x.net.set_line(1, far);
  CHECK(x.net.shortest_way() == 75ms);
}
