#include "actors/alarm_clock.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// An actor's clock and its mail to itself, in place of one.
struct sleeper {
  struct {
    time_point now() const {
      return time_point{1h};
    }
  } its_clock;
  struct letter_to_self {
    duration in;
    deadline_passed what;
  };
  std::vector<letter_to_self> sent;

  const auto& clock() const {
    return its_clock;
  }
  void delayed_send(sleeper*, duration in, deadline_passed what) {
    sent.push_back({in, what});
  }
};

} // namespace

TEST_CASE("an alarm rings once, at the earliest time that was asked for") {
  sleeper self;
  alarm_clock it;
  it.set(&self, time_point{1h} + 5s);
  it.set(&self, time_point{1h} + 9s); // Looked at when the first has rung.
  REQUIRE(self.sent.size() == 1);
  CHECK(self.sent[0].in == 5s);
  it.set(&self, time_point{1h} + 2s);
  REQUIRE(self.sent.size() == 2);
  CHECK(self.sent[1].in == 2s);
  CHECK(it.rings(self.sent[1].what));
  CHECK_FALSE(it.rings(self.sent[0].what));
}

TEST_CASE("one that has rung can be set again, also for the past") {
  sleeper self;
  alarm_clock it;
  it.set(&self, time_point{1h} + 1s);
  REQUIRE(it.rings(self.sent.back().what));
  it.set(&self, time_point{1min});
  REQUIRE(self.sent.size() == 2);
  CHECK(self.sent[1].in == 0s);
}
