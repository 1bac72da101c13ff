/// Who of a round's members is connected, who has done anything towards this
/// one, and when there was news last.
///
/// Pure: it is told the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/round/bulk_watch.hpp"
#include "runtime/averaging/round/member_roll.hpp"
#include "runtime/averaging/round/round_orders.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class member_watch {
public:
  member_watch(std::size_t members, time_point now);

  void at(time_point now) {
    now_ = now;
  }
  bool lost_patience() const {
    return lost_patience_;
  }
  void joined(std::size_t member) {
    present_[member] = true;
  }
  void left(std::size_t member) {
    present_[member] = false;
  }
  bool present(std::size_t member) const {
    return present_[member];
  }

  /// What a member said. A leader that says nothing and then calls the round
  /// off is as silent as any, and those that ask around because they wait as
  /// well bring no news. Nor does what a member says again, until this one has
  /// asked or lost patience: else one that talks would hold all for ever.
  /// @param leading This member asked where others stand.
  void heard(std::size_t member, const message& what, bool leading);
  /// It sent a mean or a part.
  void heard_bulk(std::size_t member) {
    heard_[member] = true;
  }
  void news() {
    last_news_ = now_;
  }
  /// All are asked where they stand, or told what to make anew: the patience
  /// begins anew. Not for ever, as others can make this one ask.
  void asks();
  /// For how long nothing happened.
  /// @param bulk When bulk was news last.
  duration quiet_since(time_point bulk) const {
    return now_ - std::max(last_news_, bulk);
  }
  time_point now() const {
    return now_;
  }
  /// Since the round began.
  duration age() const {
    return age_at(now_);
  }
  duration age_at(time_point when) const {
    return when - began_;
  }
  /// @param asked This member had asked all others where they stand.
  void lose_patience(bool asked);
  /// For whom patience has ended, or whose line is broken: for each member.
  std::vector<bool> waited_for() const;

  /// Whether this was the last trainer of several that this one had a line to:
  /// then it is more likely our own line that broke.
  bool cut_off_without(std::size_t member, const member_roll& roll) const;

  /// How long the round has taken, and, where this member ought to have heard
  /// of all by now, which trainers are connected and have done nothing: or not
  /// sent all that this member was to average. Who has no samples need not,
  /// unless it was asked where it stands. Also who gave the round up.
  void report(round_outcome& news, const member_roll& roll,
              const bulk_watch& bulk, duration patience) const;

private:
  void forget_told();

  std::vector<bool> present_;
  std::vector<bool> heard_;
  std::vector<std::set<std::size_t>> told_; ///< Kinds, since `asks`.
  unsigned questions_ = 0;
  time_point now_;
  time_point began_;
  time_point last_news_;
  bool lost_patience_ = false;
  bool asked_in_vain_ = false; ///< Some have not answered.
};

} // namespace potluck
