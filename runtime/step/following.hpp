/// Whose history this peer goes by: how much which counts, what it signs of its
/// own, and downloads of what counts more.
///
/// A part of `step_machine`, which says when a step begins.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/history/own_history.hpp"
#include "runtime/history/step_signing.hpp"
#include "runtime/step/catching_up.hpp"
#include "runtime/step/participant.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A newcomer waits so long for those that its invitation names.
constexpr auto roots_patience = 3s;

} // namespace potluck::limits

namespace potluck {

class following : protected participant {
protected:
  following(step_settings how, time_point now);

  own_history& history() {
    return history_;
  }
  /// Any parts of a run that begins are to find together where nobody vouches
  /// for its peers.
  own_history new_history();

  // ---- what is signed

  /// @param before The state that it was made from.
  void sign_step(const round_over& x, const digest& before);
  /// The last step is handed on, if that is due. @param whole See
  /// `step_signing`.
  void keep_signed(bool whole);
  void heard_signed(const progress_report& x);

  /// What others brought to them says nothing here.
  void forget_steps();

  // ---- where a newcomer begins

  /// Whether this peer still waits for those that its invitation names.
  bool awaits_roots() const {
    return roots_until_ && now() < *roots_until_;
  }
  void know_roots(const roots_known& x);
  /// Begins nothing of its own while it does, or while somebody is there whose
  /// history it is to take over.
  void look_at_roots();

  // ---- what counts more

  /// Whether another history counts more than the one held.
  own_history::choice better();
  /// Steps are made behind others', not beside them.
  bool waits_for_others();
  /// @param patience Of this peer's rounds.
  void catch_up_if_behind(duration patience);
  /// To the state to which the run was rolled back, if it was.
  /// @return Whether that has begun.
  bool go_back_if_told();
  /// A state of earlier is being loaded.
  bool goes_back() const {
    return goes_back_;
  }
  /// Compute's last batch from before a download has ended.
  void batch_ended() {
    catching_up_.batch_ended();
  }

  // ---- what was fetched. Each says whether a step begins with it.

  bool fetched(const state_fetched& x);
  /// What came of a download that failed.
  bool takes_over_part();
  /// The run's last state, for which too few vouched, is what most hold.
  bool end_is_settled();
  /// Not loaded: why not is said already.
  catching_up::outcome fetch_failed(const state_fetch_failed& x);

  // ---- what is held

  /// The run's last step is.
  bool is_over();
  /// Unless the state came from one peer alone.
  void save_checkpoint();

private:
  /// Compute has shown itself, and holds no state of the run.
  bool lacks_first_state() {
    return in() == stage::starting && parameters() > 0 && own().state.empty();
  }
  /// @param whole Not by means alone.
  bool takes_over(bool whole);

  own_history history_;
  step_signing signing_;
  std::optional<time_point> roots_until_; ///< See `awaits_roots`.
  catching_up catching_up_;
  bool vouched_for_ = false; ///< What is being fetched.
  bool next_step_ = false;   ///< It is that, and nothing else.
  /// Since when the run's last state is held, for which too few vouch.
  std::optional<time_point> end_in_doubt_;
  bool goes_back_ = false;
};

} // namespace potluck
