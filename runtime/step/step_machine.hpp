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

#include "runtime/history/own_history.hpp"
#include "runtime/history/step_signing.hpp"
#include "runtime/step/catching_up.hpp"
#include "runtime/step/participant.hpp"
#include "runtime/step/round_watch.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A newcomer waits so long for those that its invitation names.
constexpr auto roots_patience = 3s;

} // namespace potluck::limits

namespace potluck {

class step_machine : private participant {
public:
  using actions = participant::actions;

  step_machine(step_settings how, time_point now)
      : participant(std::move(how), now), history_(new_history()),
        signing_(this->how().self, this->how().signs), next_status_(now) {
    if (this->how().awaits_roots)
      roots_until_ = now + limits::roots_patience;
  }

  /// Hears a fact. @param x Of one of the types that `on` takes, here or in
  /// `participant`.
  /// @return What to do, in this order.
  template <class Fact>
  actions hear(const Fact& x, time_point now) {
    set_time(now);
    on(x);
    return take();
  }

  using participant::in;

private:
  using participant::on;
  // The others, and time.
  void on(const peer_left& x);
  void on(const report_heard& x);
  void on(const time_passed&);
  // Computing.
  void on(const batch_done& x);
  void on(const gradient_lent& x);
  void on(const state_changed& x);
  // The group and its round.
  void on(const freeze_wanted& x);
  void on(const contribution_ready& x);
  void on(const gathering_over& x);
  void on(const group_formed& x);
  void on(const group_dissolved& x);
  void on(const round_over& x);
  // Downloads, the organiser's word and the end.
  void on(const terms_known& x);
  void on(const roots_known& x);
  void on(const state_fetched& x);
  void on(const state_fetch_failed& x);
  void on(const checkpoint_saved& x);

  /// Follows the table, if `why` leads anywhere, and tells of it.
  void enter(cause why);
  /// Whatever came before: an applied mean, a download, or nothing.
  void begin_step();
  void finish();
  /// The run's last step is held.
  bool is_over();
  void save_checkpoint();
  void note_step(const state_changed& x, const digest& before);
  /// @param before The state that it was made from.
  void sign_step(const round_over& x, const digest& before);
  /// The last step is handed on, if that is due. @param whole See
  /// `step_signing`.
  void keep_signed(bool whole);
  /// Whether this peer still waits for those that its invitation names.
  bool awaits_roots() const {
    return roots_until_ && now() < *roots_until_;
  }
  /// Begins nothing of its own while it does, or while somebody is there whose
  /// history it is to take over.
  void look_at_roots();
  void lead_if_due();
  void report_frozen();
  /// Whether another history counts more than the one held.
  own_history::choice better();
  void catch_up_if_behind();
  /// Compute has shown itself, and holds no state of the run.
  bool lacks_first_state() {
    return in() == stage::starting && parameters() > 0 && own().state.empty();
  }
  /// To the state to which the run was rolled back, if it was.
  /// @return Whether that has begun.
  bool go_back_if_told();
  /// @param whole Not by means alone.
  void begin_with_fetched(bool whole);
  void look_at_end();
  void end_if_done();
  bool ends_elsewhere(const way::reports& partners);
  void give_up_if_too_late();

  /// The first step with others binds whom somebody vouches for.
  own_history new_history();

  own_history history_;
  step_signing signing_;
  std::optional<time_point> roots_until_; ///< See `awaits_roots`.
  round_watch round_;
  catching_up catching_up_;
  bool vouched_for_ = false; ///< What is being fetched.
  bool next_step_ = false;   ///< It is that, and nothing else.
  /// Since when the run's last state is held, for which too few vouch.
  std::optional<time_point> end_in_doubt_;
  time_point next_status_;
  bool goes_back_ = false; ///< A state of earlier is being loaded.
};

} // namespace potluck
