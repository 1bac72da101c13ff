/// Whom groups form without for a while, so that all that hold groups up cost
/// no more than a part of the time together, whoever they are.
///
/// Each trainer earns a part of the time of the steps that its gradient is in.
/// Who holds groups up for longer than it has earned is out for as long as the
/// rest is a part of. But keys cost nothing: it comes back as somebody else. So
/// there is one credit for all whose gradient was in no step as well, and one
/// for all others: else keys that bring nothing would keep out whoever has just
/// begun. Once one is used up groups form without those of its kind that have
/// earned least, until there is some again.
///
/// Pure. Each peer goes by the rounds that it has seen, so two may differ: then
/// one waits for somebody whom the other does not count.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "messages/ids.hpp"
#include "runtime/step/credit.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// What hold-ups may cost at once, and then a twentieth of the time.
constexpr auto trial_credit = 10s;
constexpr int trial_share = 20;
/// Once used up there has to be so much.
constexpr auto trial_least = 1s;
/// So long one is out at most; a member the first time within `trial_memory` no
/// longer than this, then four times as long each: one that was cut off once is
/// back soon.
constexpr auto trial_longest = 5min;
constexpr auto trial_first = 10s;
constexpr int grace_growth = 4;
/// Who has made so many steps weighs as much as anybody, for so long since.
constexpr unsigned trial_steps = 8;
constexpr auto trial_memory = 2 * trial_longest;
/// Trainers remembered.
constexpr std::size_t trials_known = 1024;

} // namespace potluck::limits

namespace potluck {

class trials {
public:
  /// This peer has made a step with the gradients of these, in so long.
  void made(const std::set<peer_id>& makers, duration step, time_point now);
  /// These have held a group up together for so long.
  void held_up(const std::set<peer_id>& who, duration how_long, time_point now);
  /// Groups form without it. Never without half of those that have made steps
  /// with this peer lately, itself included and newcomers weighing less: they
  /// could say the same of it, or it stood still itself, and each would go on
  /// alone.
  bool out(const peer_id& who, time_point now) const;

private:
  /// How often it came to that lately.
  class grace {
  public:
    /// At most for so long this time.
    duration within(duration wanted, time_point now);

  private:
    duration next_{limits::trial_first};
    std::optional<time_point> last_;
  };

  struct account {
    duration earned{0}; ///< By steps, less what was held up.
    unsigned steps = 0; ///< Made, up to `trial_steps`,
    time_point last;    ///< the newest then.
    time_point out_until = time_point::min();
    grace outs;
  };
  /// What all of a kind may cost together.
  struct gate {
    credit left{limits::trial_credit, limits::trial_share};
    time_point closed_until = time_point::min();
    grace closings;
    void spend(duration how_long, time_point now);
  };
  account& account_of(const peer_id& who);
  bool has_used_up(const peer_id& who, time_point now) const;

  std::map<peer_id, account> accounts_;
  duration usual_{0}; ///< Of those that made the last step: the upper median.
  gate strangers_;    ///< Whose gradient was in no step.
  gate makers_;
};

} // namespace potluck
