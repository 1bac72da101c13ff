/// Whether this trainer rests (who_rests.hpp), and for how long: one decision
/// from one contract, which all of its members draw alike.
///
/// Pure. It holds for a number of steps, then all compute for one, by which it
/// is drawn anew. It ends earlier when a trainer that computes is gone, a new
/// one brings samples, the uplink of a resting one or of all auxiliaries
/// together is faster than it was, or one that was to rest computes all the
/// same: that one is counted on from then on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "messages/matchmaking.hpp"
#include "runtime/clock.hpp"
#include "runtime/planning/collaboration.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A decision holds so long that the step in which all compute costs a
/// twentieth of what resting saves, within these bounds, in steps.
constexpr std::uint64_t shortest_rest = 16;
constexpr std::uint64_t longest_rest = 512;
constexpr double rest_in_trials = 20;
/// An uplink that is so many times faster is reason to look again: less is what
/// measurements of one line differ by.
constexpr double other_line = 1.5;
/// Steps for which one that did not rest is counted on to compute.
constexpr std::uint64_t unwilling_for = 64;
/// A step that takes so many times as long as was predicted, and some seconds,
/// needs everybody: others have gone, or lied about how fast they are.
constexpr double overlong = 3;
constexpr auto overlong_more = 5s;

} // namespace potluck::limits

namespace potluck {

class resting {
public:
  /// @param willing False: this peer always computes; it still follows who else
  ///     rests, so that it says what it knows.
  resting(const peer_id& self, const plan_rules& rules, bool willing)
      : self_(self), rules_(rules), willing_(willing) {
  }

  /// A group has formed. What follows is worked out when it is asked for, or by
  /// `look`, which is to be called while the group averages.
  void formed(const group_contract& contract) {
    pending_ = contract;
  }
  void look();
  /// Whether this peer computes nothing for `step`, which it would complete.
  /// @param since The step before was done so long ago.
  bool rests(std::uint64_t step, duration since);

  struct verdict {
    std::uint64_t step = 0;  ///< Of the contract that it follows from.
    std::uint64_t until = 0; ///< The step for which all compute again.
    std::set<peer_id> resting;
    double seconds_all = 0; ///< As predicted: of a step if all compute,
    double seconds = 0;     ///< and as it is.
  };
  /// What holds now; null: all compute.
  const verdict* now() const {
    return held_ ? &held_->what : nullptr;
  }

private:
  struct held {
    verdict what;
    std::set<peer_id> computing;
    std::map<peer_id, double> uplinks; ///< Of those that rest.
    double auxiliaries = 0;            ///< Uplinks, together.
  };

  bool stands(const group_contract& x);

  peer_id self_;
  plan_rules rules_;
  bool willing_;
  std::optional<group_contract> pending_;
  std::optional<held> held_;
  std::map<peer_id, std::uint64_t> unwilling_; ///< Until which step.
};

} // namespace potluck
