/// For whom an auxiliary averages. It holds no state that would tell it which
/// step is the run's, so it keeps to the trainers of the last step that it saw
/// committed: their invitations come before anybody else's, and for a while
/// nobody else's are followed.
///
/// That ends when only one of them is connected, or when most of them have not
/// been in a step with it for longer than usual. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// An auxiliary waits so long at least for the next invitation by those that it
/// averaged for; longer where their steps take longer: so many times the last
/// one.
constexpr auto followed_for = 60s;
constexpr int followed_for_steps = 2;
constexpr auto followed_for_at_most = 10min;

} // namespace potluck::limits

namespace potluck {

class last_trainers {
public:
  void joined(const peer_id& who) {
    here_.insert(who);
  }
  void left(const peer_id& who) {
    here_.erase(who);
  }
  /// A round was committed. @param left_out As `round_over` has it: these have
  /// brought nothing, whoever lists them.
  void made(const group_contract& x, const std::vector<std::uint8_t>& left_out,
            time_point now);

  /// Whether an invitation by this peer is followed now.
  bool follows(const peer_id& leader, time_point now) const;
  bool comes_before(const peer_id& one, const peer_id& other) const {
    return trainers_.count(one) != 0 && trainers_.count(other) == 0;
  }

private:
  std::size_t here_of(const std::set<peer_id>& all) const;

  std::set<peer_id> here_;
  std::set<peer_id> trainers_; ///< That brought something to that step.
  time_point made_at_{};
  duration until_ = limits::followed_for; ///< After that.
};

} // namespace potluck
