#include <doctest/doctest.h>

#include "runtime/membership/session_pulse.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using look = session_pulse::look;

namespace {

constexpr time_point start{100s};

progress_report of_a(bool member) {
  progress_report result;
  result.phase = phase::accumulating;
  result.contributes = !member;
  return result;
}

/// Both sides average in the run.
session_pulse of_members() {
  session_pulse result{start};
  result.report(of_a(true), true, start);
  result.report(of_a(true), false, start);
  return result;
}

} // namespace

TEST_CASE("two that only know each other ask seldom, members soon") {
  session_pulse x{start};
  CHECK(x.due() == start + duration{limits::acquaintance_heartbeat_interval});
  CHECK_FALSE(x.report(of_a(true), true, start));
  CHECK(x.report(of_a(true), false, start)); // Look now.
  CHECK(x.due() == start);
  CHECK(x.look_at(start) == look::ask);
  CHECK(x.due() == start + duration{limits::first_heartbeat_interval});
  CHECK_FALSE(x.report(of_a(false), false, start)); // It contributes now.
}

TEST_CASE("a peer that was just heard is not asked, until it heard nothing") {
  auto x = of_members();
  auto now = start;
  for (unsigned i = 0; i < limits::first_heartbeats; ++i) {
    CHECK(x.look_at(now) == look::ask);
    now = x.due();
  }
  x.heard(now);
  x.said(now);
  CHECK(x.look_at(now) == look::nothing);
  now = x.due();
  x.heard(now); // We have said nothing meanwhile.
  CHECK(x.look_at(now) == look::ask);
}

TEST_CASE("a peer that is silent for too long is gone") {
  session_pulse x{start};
  auto now = start;
  look last = look::nothing;
  for (int i = 0; i < 1000 && last != look::gone; ++i) {
    now = x.due();
    last = x.look_at(now);
  }
  CHECK(last == look::gone);
  CHECK(now - start <= silence_detector::settings{}.cap
                           + duration{limits::acquaintance_heartbeat_interval});
}

TEST_CASE("a look that comes late does not count the silence before it") {
  auto x = of_members();
  CHECK(x.look_at(start + 3600s) != look::gone); // The machine had slept.
}

TEST_CASE("bytes that pass are a sign of life, and fill the line") {
  auto x = of_members();
  auto now = start;
  for (int i = 0; i < 200; ++i) {
    x.passed(limits::telling_bytes, limits::telling_bytes, now);
    CHECK(x.look_at(now) != look::gone);
    now = x.due();
  }
}

TEST_CASE("a side that is asked all the time seldom asks itself") {
  auto x = of_members();
  auto now = start;
  for (unsigned i = 0; i < limits::first_heartbeats; ++i) {
    x.look_at(now);
    now = x.due();
  }
  x.heard(now);
  x.look_at(now);
  const auto before = x.due();
  x.was_asked(now);
  CHECK(x.due() > before);
}
