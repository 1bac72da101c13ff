/// The state keeper: gives the training state and the means of past steps to
/// joiners, fetches them from donors, writes checkpoints.
///
/// Decisions are `state_donor`'s and `state_joiner`'s, which answer each fact
/// with actions; this actor carries them out. Joiners get immutable snapshots
/// and means, so training goes on meanwhile. An auxiliary's has a `state_shelf`
/// instead of both.
#pragma once

#include "actors/alarm_clock.hpp"
#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/safeguards.hpp"
#include "runtime/state/checkpoint_files.hpp"
#include "runtime/state/kept_states.hpp"
#include "runtime/state/state_donor.hpp"
#include "runtime/state/state_joiner.hpp"
#include "runtime/state/state_shelf.hpp"

namespace potluck {

/// Of the thread that writes files: what is computed comes first. Not the
/// lowest priority: where all cores compute, such a thread waits for its turn
/// after each piece, so that the next step comes before all is written, and has
/// to copy the state.
constexpr int writing_niceness = 10;

struct state_keeper_config {
  peer_id self;
  charter agreed;
  /// Null: no checkpoints are written.
  std::shared_ptr<checkpoint_files> checkpoints;
  worker_mode mode = worker_mode::threaded;
  /// As the user states it; joiners get `joiners_upload_share` of it.
  double upload_bytes_per_second = 0;
  /// An auxiliary has no state of its own, and
  bool trains = true;
  /// keeps others' here; null: none.
  std::shared_ptr<piece_store> pieces = {};
  /// Where states are kept for roll-backs; empty: nowhere.
  std::string kept_folder = {};
  /// Which checks are made: all, but in a simulation that proves something.
  safeguard_set guards;
};

class state_keeper_state {
public:
  void init(state_keeper_actor::pointer self, state_keeper_config config);

  void on(const state_keeper_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const fetch_state& x);
  void on(const report_heard& x);
  void on(const mean_applied& x);
  void on(const snapshot_taken& x);
  void on(const state_changed& x);
  void on(const mean_relay& x) {
    relay_ = x.who;
  }
  void on(const save_checkpoint_now& x);
  void on(const may_be_saved& x);
  void on(const checkpoint_saved& x);
  void on(const go_back& x);
  void on(const kept_state_read& x);
  void on(const deadline_passed& x);

private:
  time_point now() const {
    return self_->clock().now();
  }

  /// An auxiliary that is to be asked for these donors' state: their own lines
  /// lead through hubs, and its does not. Empty: nobody.
  peer_id hub_for(const fetch_goal& goal) const;

  // Letters: joiners' to the donor's side, donors' to the joiner's.
  state_actions read(const peer_id& from, const state_request& x);
  state_actions read(const peer_id& from, const piece_request& x);
  state_actions read(const peer_id& from, const state_done& x);
  state_actions read(const peer_id& from, const state_manifest& x);
  template <class Other>
  state_actions read(const peer_id&, const Other&) {
    return {}; // Sessions deliver nothing else here.
  }

  void carry_out(state_actions xs);
  void carry_out(state_letter& x);
  void carry_out(look_again& x);
  void carry_out(copy_state&);
  void carry_out(coming_mean& x);
  void carry_out(coming_piece& x);
  void carry_out(nothing_more_comes&);
  void carry_out(state_job& x);
  void carry_out(mean_job& x);
  void carry_out(fetch_result& x);
  void carry_out(fetch_failure& x);
  void carry_out(fetch_fault& x);

  void show_progress();
  void ask_for_snapshot();
  void save_checkpoint_of(const std::shared_ptr<const training_state>& state);
  /// For roll-backs, if it is one of those.
  void keep(const std::shared_ptr<const training_state>& state);
  bool is_kept(std::uint64_t step) const;
  /// Compute holds the state of earlier that it was told to hold.
  bool is_gone_back_to(const state_changed& x) const;

  state_keeper_actor::pointer self_ = nullptr;
  state_keeper_config config_;
  state_keeper_handles wired_;
  std::unique_ptr<worker> thread_;
  std::uint64_t parameters_ = 0; ///< 0: not known yet.
  std::optional<state_donor> donor_;
  std::optional<state_joiner> joiner_;
  std::optional<state_shelf> shelf_; ///< Instead of both.
  std::set<peer_id> relayed_;        ///< Who is connected through hubs,
  std::set<peer_id> hubs_;           ///< and which auxiliaries are not.
  peer_id relay_;              ///< Whom to ask first for a mean; empty: nobody.
  bool compute_spoke_ = false; ///< The present one.
  bool snapshot_asked_ = false;
  std::optional<fetch_state> too_early_; ///< Until our model is known.
  std::vector<std::uint64_t> checkpoints_due_;
  std::shared_ptr<kept_list> kept_ = std::make_shared<kept_list>();
  bool reads_kept_ = false; ///< A state of earlier, for compute to hold.
  /// What compute was told to hold; without a digest, whichever of its step.
  std::optional<roll_back> goes_back_;
  alarm_clock alarm_; ///< When to look again.
  time_point next_show_;
};

state_keeper_actor::behavior_type
state_keeper(state_keeper_actor::stateful_pointer<state_keeper_state> self,
             state_keeper_config config);

} // namespace potluck
