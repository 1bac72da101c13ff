#include "runtime/membership/session_pulse.hpp"

#include <algorithm>

#include "runtime/fault_points.hpp"

namespace potluck {

namespace {

/// Heartbeats that a connection full of other things can do without in a row:
/// how long an answer takes is to be known all the same.
constexpr int spared_heartbeats = 4;

} // namespace

session_pulse::session_pulse(time_point now)
    : silence_{now, detection()}, due_{now + interval()} {
}

duration session_pulse::interval() const {
  return us_ && them_ ? duration{limits::heartbeat_interval}
                      : duration{limits::acquaintance_heartbeat_interval};
}

silence_detector::settings session_pulse::detection() const {
  silence_detector::settings how;
  how.heartbeat = interval();
  how.floor = std::max(how.floor, 2 * interval());
  how.cap = std::max(how.cap, 4 * interval());
  return how;
}

void session_pulse::passed(std::uint64_t received, std::uint64_t sent,
                           time_point now) {
  if (received > 0)
    silence_.stirred(now);
  if (sent > 0)
    silence_.acknowledged(now);
  if (received >= limits::telling_bytes)
    last_filled_in_ = now;
  if (sent >= limits::telling_bytes)
    last_filled_out_ = now;
}

void session_pulse::was_asked(time_point now) {
  if (quick_heartbeats_ == 0)
    due_ = std::max(due_,
                    std::min(now + interval() + interval() / 2,
                             last_asked_ + spared_heartbeats * interval()));
}

bool session_pulse::report(const progress_report& x, bool ours,
                           time_point now) {
  const auto before = interval();
  // Who has been a member stays one while it fetches what it missed.
  if (x.contributes || x.phase != phase::joining)
    (ours ? us_ : them_) = !x.contributes;
  if (interval() == before)
    return false;
  silence_ = silence_detector{now, detection()};
  if (interval() > before)
    return false;
  quick_heartbeats_ = limits::first_heartbeats;
  due_ = now;
  return true;
}

session_pulse::look session_pulse::look_at(time_point now) {
  // When we are late ourselves (a loaded or suspended machine), what the other
  // side said meanwhile still waits to be read: start counting anew.
  if (now - due_ > interval())
    silence_.heard(now);
  if (silence_.suspicious(now))
    return look::gone;
  const auto heard = std::max(silence_.last_heard(), last_filled_in_);
  const auto said = std::max(last_said_, last_filled_out_);
  const auto lately = interval() * 3 / 4;
  const bool ask = quick_heartbeats_ > 0 || now - heard >= lately
                   || now - said >= lately
                   || now - last_asked_ >= spared_heartbeats * interval()
                   || strikes(fault_point::heartbeat_early);
  if (ask)
    last_asked_ = now;
  due_ = now + interval();
  if (quick_heartbeats_ > 0) {
    --quick_heartbeats_;
    due_ = now + duration{limits::first_heartbeat_interval};
  }
  return ask ? look::ask : look::nothing;
}

} // namespace potluck
