/// How long a leader waits for the answers to its invitations.
///
/// Pure: the time is passed in. From what the invited took lately, and from how
/// long this peer's own gradient takes to be frozen.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/config.hpp"
#include "runtime/median.hpp"
#include "runtime/membership/deadline_estimator.hpp"

namespace potluck::limits {

/// Once a member's answers were observed it is waited for by these, for a batch
/// longer than usual at least, and no less than this: a batch under way, and
/// one that a busy machine stretches.
constexpr auto answer_floor = 2 * longest_batch;

} // namespace potluck::limits

namespace potluck {

class answer_patience {
public:
  explicit answer_patience(const peer_id& self) : self_(self) {
  }

  /// @param guess For whom nothing is known: as long as a batch may take.
  duration of(const std::vector<contact>& invitees, duration guess) const {
    auto longest = freezes_.patience(self_, guess);
    for (auto& who : invitees) {
      longest = std::max(longest, answers_.patience(who.id, guess));
      // The others' answers say nothing about a newcomer's batches and line.
      if (answers_.count(who.id) == 0)
        longest = std::max(longest, guess);
    }
    return std::min<duration>(longest, limits::answer_cap);
  }

  /// This peer leads a group, and has invited these.
  void begin(const group_id& group, const std::vector<contact>& invitees,
             time_point now) {
    led_ = group;
    invited_at_ = now;
    answered_.clear();
    unanswered_.clear();
    for (auto& who : invitees)
      unanswered_.insert(who.id);
  }

  /// Its own gradient is frozen: no measure for anybody else.
  void frozen(const group_id& group, time_point now) {
    if (group != led_)
      return;
    freezes_.observed(self_, now - invited_at_);
    answered_[self_] = now - invited_at_;
  }

  /// @param current The group that this peer is in now. Who was late, but
  /// lives, is given twice the time. Who says nothing is not: nobody may hold
  /// everybody up longer and longer.
  void answered(const peer_id& from, const group_answer& x,
                const group_id& current, time_point now) {
    if (!x.accepted || x.group != led_ || unanswered_.erase(from) == 0)
      return;
    answers_.observed(from, now - invited_at_);
    answered_[from] = now - invited_at_;
    if (current != led_)
      answers_.expired(from);
  }

  struct lateness {
    std::vector<peer_id> who; ///< Has come later than most,
    duration how_long{0};     ///< the last of them by so much.
  };
  /// The group is waited for no more. Later than most is who has answered so
  /// long after half of all, this peer included, or not at all. Of two the one
  /// that has answered is not: its line may be long.
  /// @param unanswered Trainers that have not.
  lateness late(const std::vector<peer_id>& unanswered, duration free,
                time_point now) const {
    auto all = answered_;
    for (const auto& id : unanswered)
      all[id] = now - invited_at_;
    lateness result;
    if (all.empty())
      return result;
    std::vector<duration> times;
    for (const auto& x : all)
      times.push_back(x.second);
    const auto usual = lower_median(std::move(times)) + free;
    for (const auto& [id, took] : all)
      if (took > usual && id != self_
          && (all.size() > 2 || answered_.count(id) == 0)) {
        result.who.push_back(id);
        result.how_long = std::max(result.how_long, took - usual);
      }
    return result;
  }

private:
  static deadline_estimator estimator() {
    return deadline_estimator{{limits::answer_floor, limits::answer_cap,
                               limits::answer_cap, limits::longest_batch}};
  }

  peer_id self_;
  deadline_estimator answers_ = estimator();
  deadline_estimator freezes_ = estimator();
  group_id led_;
  time_point invited_at_;
  std::map<peer_id, duration> answered_; ///< After the invitation.
  std::set<peer_id> unanswered_;
};

} // namespace potluck
