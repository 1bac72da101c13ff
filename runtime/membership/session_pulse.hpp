/// When a session asks whether its peer is still there, and when it takes it
/// for gone.
///
/// Members wait for each other and are quick to notice a death; a peer that
/// only looks something up, or has many contributors, can do with less. A peer
/// that has just been heard needs no question, unless it has heard nothing of
/// us: of two sides that have nothing else to say, one asks and the other
/// answers; on a line that gradients fill, nearly none do. Pure: it is told
/// what passes, and the time.
#pragma once

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/silence_detector.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two heartbeats of two members, who wait for each other.
constexpr auto heartbeat_interval = 1s;
/// The same where one of two contributes, of which a member may have hundreds,
/// or has not reported to the other: it looks something up, or has come a
/// moment ago. A home that moved is back after 10 s, since it misses its lines
/// before.
constexpr auto acquaintance_heartbeat_interval = 3s;
/// The first ones of members come faster, so that silence is judged by observed
/// round trips from the second second on.
constexpr auto first_heartbeat_interval = 200ms;
constexpr unsigned first_heartbeats = 4;
/// Bytes on a connection since the last look: more than heartbeats are. A full
/// packet.
constexpr std::uint64_t telling_bytes = 1448;

} // namespace potluck::limits

namespace potluck {

class session_pulse {
public:
  explicit session_pulse(time_point now);

  /// A frame came.
  void heard(time_point now) {
    silence_.heard(now);
  }
  /// Bytes passed, which may be of a frame that takes its time.
  void passed(std::uint64_t received, std::uint64_t sent, time_point now);
  void said(time_point now) {
    last_said_ = now;
  }
  /// Our question was answered.
  void round_trip(duration taken) {
    silence_.round_trip(taken);
  }
  /// The peer has asked. A side that is asked all the time asks only to know
  /// how long an answer takes.
  void was_asked(time_point now);
  /// A report of one of the two sides passed: what it is to the run.
  /// @returns It is to be looked at sooner than was said.
  bool report(const progress_report& x, bool ours, time_point now);

  /// When to look next.
  time_point due() const {
    return due_;
  }
  enum class look { nothing, ask, gone };
  /// What there is to do at `due`, or later on a machine that is busy.
  look look_at(time_point now);

private:
  duration interval() const;
  silence_detector::settings detection() const;

  bool us_ = false; ///< A member, by the last reports that passed.
  bool them_ = false;
  silence_detector silence_;
  time_point due_;
  time_point last_said_{};
  time_point last_asked_{};
  /// When the connection last carried as much as frames in the middle of
  /// something large do.
  time_point last_filled_in_{};
  time_point last_filled_out_{};
  unsigned quick_heartbeats_ = 0; ///< Still to come.
};

} // namespace potluck
