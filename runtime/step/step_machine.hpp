/// The step as a machine: what a peer does next.
///
/// Accumulate until the collaboration has the target batch; lead a group, or
/// follow one; average; apply; and catch up when others are ahead. One stage at
/// a time, with every transition in the table of `stages.cpp`. Facts come in,
/// actions come out, to be carried out in their order.
///
/// No clock, socket or actor. What is computed and counted, the other peers,
/// when to lead, how a round goes and catching up are classes of their own;
/// with whom to average is the way's (runtime/ways).
#pragma once

#include "runtime/step/step_outcome.hpp"

namespace potluck {

class step_machine : private step_outcome {
public:
  using actions = participant::actions;

  step_machine(step_settings how, time_point now)
      : step_outcome(std::move(how), now) {
  }

  /// Hears a fact. @param x Of one of the types that `on` takes, here, in
  /// `step_outcome` or in `participant`.
  /// @return What to do, in this order.
  template <class Fact>
  actions hear(const Fact& x, time_point now) {
    set_time(now);
    on(x);
    return take();
  }

  using participant::in;

private:
  using step_outcome::on;
  // The others, and time.
  void on(const report_heard& x);
  void on(const time_passed&);
  // Computing.
  void on(const batch_done& x);
  void on(const state_changed& x);
  // The group and its round.
  void on(const freeze_wanted& x);
  void on(const gathering_over& x);
  void on(const group_formed& x);
  void on(const group_dissolved& x);
  void on(const round_over& x);
  // Downloads, the organiser's word and the end.
  void on(const terms_known& x);
  void on(const roots_known& x);
  void on(const state_fetched& x);
  void on(const state_fetch_failed& x);

  /// Follows the table, if `why` leads anywhere, and tells of it.
  void enter(cause why);
  /// Whatever came before: an applied mean, a download, or nothing.
  void begin_step();
  void finish();
  /// @return Whether whose invitations count has changed.
  bool look_who_leads();
  void lead_if_due();
  void report_frozen();
  /// @param taken A state was, with which a step begins.
  void begin_with(bool taken);

  time_point told_at_; ///< What is counted, to a group.
};

} // namespace potluck
