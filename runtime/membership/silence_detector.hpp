/// When a peer's silence becomes suspicious.
///
/// Pure: told of every sign of life and every round trip of one connection, it
/// says until when silence is normal. What to do about it is the caller's.
#pragma once

#include "runtime/clock.hpp"
#include "runtime/membership/observed_durations.hpp"

namespace potluck {

class silence_detector {
public:
  struct settings {
    /// How often the other side is made to say something.
    duration heartbeat = std::chrono::seconds{1};
    /// No silence below this is suspicious: three heartbeats, so that one lost
    /// moment of a busy laptop is not a death.
    duration floor = std::chrono::seconds{3};
    /// Every silence above this is: a group waits no longer for anybody.
    duration cap = std::chrono::seconds{20};
  };

  /// @param now When the connection opened, which counts as a sign of life.
  explicit silence_detector(time_point now);
  silence_detector(time_point now, settings how);

  /// Something arrived, whatever it was.
  void heard(time_point now);

  /// A part of something arrived. That says that the other side lives, and
  /// nothing of how soon it answers: on a busy line that takes longer.
  void stirred(time_point now);

  /// What we sent was acknowledged: the other side's machine takes it. What it
  /// says itself may wait behind that, so this puts suspicion off; but a
  /// machine acknowledges for a process that hangs, so for no longer than the
  /// cap.
  void acknowledged(time_point now);

  /// A heartbeat came back after `taken`.
  void round_trip(duration taken);

  /// How long a silence may last, from the gaps between arrivals and the round
  /// trips observed; the cap while too few were.
  duration patience() const;

  /// The last sign of life, of any kind, plus `patience()`.
  time_point deadline() const;

  /// True from the deadline on, until something is heard.
  bool suspicious(time_point now) const;

  time_point last_heard() const {
    return last_heard_;
  }

private:
  settings how_;
  time_point last_heard_;
  time_point last_stirred_;
  time_point last_acknowledged_;
  observed_durations gaps_;
  observed_durations round_trips_;
};

} // namespace potluck
