/// What comes of this peer's steps, and of its run: who made a step, what
/// others and people hear of it, and when all is over.
///
/// A part of `step_machine`, which says when a stage is over.
#pragma once

#include "runtime/step/following.hpp"
#include "runtime/step/round_watch.hpp"

namespace potluck {

class step_outcome : protected following {
protected:
  step_outcome(step_settings how, time_point now)
      : following(std::move(how), now), next_status_(now) {
  }

  using participant::on;
  void on(const gradient_lent& x);
  void on(const contribution_ready& x);
  void on(const peer_left& x);
  void on(const checkpoint_saved& x);

  /// A round is over, and who did not keep up in it.
  void note_round(const round_over& x);
  /// A mean was applied. @param before The state that it was laid on.
  void note_step(const state_changed& x, const digest& before);
  /// The run's last state is held. Call `end_if_done` behind what follows.
  void make_end();
  /// Says that this peer is over, once nobody needs it any more.
  void end_if_done();
  /// Others have made the run's last step, and are more than this peer and
  /// `partners`: who made it here would make a second one.
  bool ends_elsewhere(const way::reports& partners);
  /// Says that it is over when that lasts.
  void give_up_if_too_late();
  /// A line for a person's screen, if it is time for one.
  void show_status();

  round_watch round_; ///< Its last one is what people see.

private:
  time_point next_status_;
};

} // namespace potluck
