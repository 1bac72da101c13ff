/// The group that this peer's gradient is frozen for, and its round: how long
/// rounds take, whether others have completed the step already, and what the
/// step came to.
///
/// Pure. The round itself is runtime/averaging's.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/progress/acquaintances.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/facts.hpp"

namespace potluck::limits {

/// A leader may set a round's patience to so many times what a member itself
/// has learnt; a member that has seen fewer slow rounds follows its own.
constexpr int leaders_patience = 2;
/// A round that one member in more than so many held up says nothing about
/// patience: the next goes without it.
constexpr std::size_t few_of = 4;

} // namespace potluck::limits

namespace potluck {

class round_watch {
public:
  round_watch();

  // ---- a group is being formed --------------------------------------------

  /// This peer leads: matchmaking answers with a group, or with its end.
  void lead() {
    group_ = {};
  }
  void freeze_for(const group_id& group) {
    group_ = group;
  }
  const group_id& group() const {
    return group_;
  }
  /// Whether `x` is the group that is being formed, or the one that this peer
  /// leads and has not heard of.
  bool is_ours(const group_id& x) const {
    return group_.empty() || x == group_;
  }
  /// What is counted has been told to a group: nothing may be added to it.
  bool told() const {
    return told_.has_value();
  }
  /// @param samples So many. @return Whether it has not been told yet.
  bool tell(std::uint64_t samples) {
    return !std::exchange(told_, samples);
  }
  /// 0: none were.
  std::uint64_t told_samples() const {
    return told_.value_or(0);
  }

  // ---- a round ------------------------------------------------------------

  /// The contract has come. A leader that asks for much more patience than
  /// rounds take, and then says nothing, is not to hold everybody up.
  void form(group_formed x);
  /// The round as it was formed.
  const std::optional<group_formed>& formed() const {
    return formed_;
  }
  /// Why its plan is not the one before: a sentence's part for people.
  std::string why_planned() const;

  /// A connected trainer reports that it has completed the step of this peer's
  /// round: one member is asked for the outcome, and when most members are
  /// ahead the round is given up.
  /// @param one_history All make the same step; else only the members of a
  ///     group make it together.
  std::vector<outcome_question> hear(const progress_report& x,
                                     const acquaintances& others,
                                     bool one_history, time_point now);

  /// How the round ended. @return Whether its leader's rounds come to nothing,
  /// so that another should lead the next. @param step Held.
  bool over(const round_over& x, std::uint64_t step, time_point now);
  /// The round's mean is being applied.
  void apply(round_over x) {
    applied_ = std::move(x);
  }
  const std::optional<round_over>& applied() const {
    return applied_;
  }
  /// Back to accumulating.
  void reset();

  /// That a round is given. All members wait for one together, so it is the
  /// collaboration's.
  std::chrono::milliseconds patience() const;

  /// What the applied step came to, over the members that are in every chunk;
  /// others may be in some.
  struct result {
    double loss = 0;  ///< Mean over samples.
    double share = 0; ///< This peer's part of the samples, 0 to 1.
    double samples = 0;
    std::uint64_t peers = 0;
  };
  const result& last() const {
    return last_;
  }
  /// The mean is applied. @param self Whose share is told.
  void note_outcome(const peer_id& self);

private:
  bool most_are_ahead(const acquaintances& others, bool one_history,
                      time_point now) const;

  group_id group_;
  std::optional<std::uint64_t> told_;
  std::optional<group_formed> formed_;
  group_contract planned_; ///< The last one; no members: there was none.
  group_contract before_;  ///< The one before that.
  std::optional<round_over> applied_;
  /// The member that has completed the step and is asked, and since when.
  std::optional<std::pair<peer_id, time_point>> asked_;
  bool left_behind_ = false; ///< Most others have completed the step.
  result last_;
  deadline_estimator rounds_;
  /// From a peer's report of the completed step to the verdict here.
  deadline_estimator verdicts_;
};

} // namespace potluck
