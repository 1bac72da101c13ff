#include "runtime/membership/run_witnesses.hpp"

#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

digest some_charter() {
  digest x;
  x.bytes[0] = 1;
  return x;
}

progress_report record(std::uint8_t number, phase what = phase::joining) {
  progress_report x;
  x.id = peer(number);
  x.phase = what;
  return x;
}

/// Peer 5's.
struct others : run_witnesses {
  others() : run_witnesses(peer(5)) {
  }
  void connect(std::uint8_t number, bool has_charter,
               role what = role::trainer) {
    joined({peer(number), {"somewhere", 1}}, what,
           has_charter ? some_charter() : digest{}, false, start);
  }
  peer_id first(bool founding = false) const {
    const auto* x = before_us(founding, start);
    return x ? x->first : peer_id{};
  }
};

} // namespace

TEST_CASE("a charter comes before whoever founds, and that before an id") {
  others x;
  CHECK(x.first().empty());
  x.heard(record(7), start);
  CHECK(x.first().empty()); // We are smaller.
  x.heard(record(3), start);
  CHECK(x.first() == peer(3));
  x.heard(record(8, phase::founding), start);
  CHECK(x.first() == peer(8));
  // Of two that are founding, the smaller id goes on.
  CHECK(x.first(true).empty());
  x.heard(record(3, phase::founding), start);
  CHECK(x.first(true) == peer(3));
  x.connect(9, true, role::auxiliary);
  CHECK(x.first(true) == peer(9));
}

TEST_CASE("nobody is a witness of itself") {
  others x;
  CHECK_FALSE(
      x.joined({peer(5), {"here", 1}}, role::trainer, {}, false, start));
  CHECK(x.heard(record(5), start) == nullptr);
  CHECK(x.lines() == 0);
}

TEST_CASE("one is asked for the charter, then the next when that is slow") {
  others x;
  x.connect(1, true);
  x.connect(2, true);
  x.connect(3, false); // Has none to give.
  CHECK(x.ask(start) == std::vector<peer_id>{peer(1)});
  CHECK(x.ask(start + run_witnesses::hedge - 1ms).empty());
  CHECK(x.ask(start + run_witnesses::hedge) == std::vector<peer_id>{peer(2)});
}

TEST_CASE("the next is asked at once when one has none, lies or leaves") {
  others x;
  x.connect(1, true);
  x.connect(2, true);
  REQUIRE(x.ask(start) == std::vector<peer_id>{peer(1)});
  SUBCASE("has none") {
    REQUIRE(x.answered(peer(1)));
    x.has_none(peer(1), start);
  }
  SUBCASE("lies") {
    REQUIRE(x.answered(peer(1)));
    x.lied(peer(1));
    CHECK(x.all().at(peer(1)).charter.empty());
  }
  SUBCASE("leaves") {
    x.left(peer(1), false);
  }
  CHECK(x.ask(start) == std::vector<peer_id>{peer(2)});
}

TEST_CASE("an answer that nobody asked for is none") {
  others x;
  x.connect(1, true);
  CHECK(x.answered(peer(1)) == nullptr);
  x.ask(start);
  CHECK(x.answered(peer(1)));
  CHECK(x.answered(peer(1)) == nullptr);
}

TEST_CASE("who is asked in vain counts no more, and is asked on") {
  others x;
  x.connect(3, true);
  auto now = start;
  unsigned asked = 0;
  for (; now < start + 1min; now += 100ms) {
    asked += x.ask(now).size();
    CHECK((x.before_us(false, now) != nullptr)
          == (asked <= run_witnesses::most_in_vain));
  }
  CHECK(asked > run_witnesses::most_in_vain);
  REQUIRE(x.answered(peer(3)));
  CHECK(x.before_us(false, now));
}

TEST_CASE("a rumour lives as long as it is told, and not for ever") {
  others x;
  auto now = start;
  for (; now < start + run_witnesses::rumour_life; now += 1s) {
    x.heard(record(3), now);
    CHECK(x.before_us(false, now));
  }
  CHECK(x.before_us(false, now) == nullptr);
  x.forget_silent(now + limits::report_life + 1s);
  CHECK(x.all().empty());
}

TEST_CASE("a bootstrap's first answer is waited for") {
  others x;
  x.connect(9, false, role::bootstrap);
  CHECK(x.may_answer(start));
  x.ask(start);
  CHECK(x.may_answer(start));
  CHECK_FALSE(x.may_answer(start + run_witnesses::patience));
  REQUIRE(x.answered(peer(9)));
  x.has_none(peer(9), start);
  CHECK_FALSE(x.may_answer(start));
  // It is asked again, since somebody who has the charter may have come.
  CHECK(x.ask(start + run_witnesses::again - 1ms).empty());
  CHECK(x.ask(start + run_witnesses::again).size() == 1);
}
