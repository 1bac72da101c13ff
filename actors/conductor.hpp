/// The conductor: decides what this peer does next.
///
/// Accumulate until the collaboration has the target batch; lead a group, or
/// follow one; average; apply; and catch up when others are ahead. One stage at
/// a time, listed in `stage`, with every transition in `enter`. Decisions about
/// others come from runtime/progress.
#pragma once

#include <map>
#include <set>

#include "actors/interfaces.hpp"
#include "actors/peer.hpp"
#include "runtime/cells/cell_tally.hpp"
#include "runtime/config.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/membership/split_watch.hpp"
#include "runtime/progress/finishers.hpp"
#include "runtime/progress/progress_tracker.hpp"

namespace potluck {

struct conductor_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  charter agreed;
  std::uint32_t micro_batch = 16; ///< 0: what the trainer says.
  data_order order;
  std::uint64_t checkpoint_every = 0;
  bool writes_checkpoints = false;
  bool shows_status = true; ///< Tells the observer of `run_status`.
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  /// A predecessor failed, perhaps with all connections: who was there may come
  /// back with another history.
  bool replaces = false;
};

class conductor_state {
  /// Connected trainers that have not finished.
  struct backlog {
    std::size_t trainers = 0;
    std::uint64_t steps = 0; ///< The sum of those that they are at.

    friend bool operator==(const backlog& a, const backlog& b) {
      return a.trainers == b.trainers && a.steps == b.steps;
    }
  };

public:
  void init(conductor_actor::pointer self, conductor_config config);

  void on(const wiring& w);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const report_heard& x);
  void on(const state_changed& x);
  void on(const batch_done& x);
  void on(const gradient_lent& x);
  void on(const freeze_wanted& x);
  void on(const group_formed& x);
  void on(const group_dissolved& x);
  void on(const cell_standing& x);
  void on(const contribution_ready& x);
  void on(const gathering_over& x);
  void on(const contribution_wanted& x);
  void on(const round_over& x);
  void on(const state_fetched& x);
  void on(const state_fetch_failed& x);
  void on(const donor_distrusted& x);
  void on(const members_doubted& x);
  void on(const checkpoint_saved& x);
  void on(const line_measured& x);
  void on(const tick&);

  /// After a group that came to nothing, before this peer leads another one;
  /// doubles each time. Without it, two peers that disagree on how many samples
  /// there are would ask and refuse each other hundreds of times a second.
  static constexpr auto lead_pause = std::chrono::milliseconds{20};
  static constexpr auto lead_pause_cap = std::chrono::milliseconds{1000};
  /// Who does not reach all of a redrawn group leaves it so long to others to
  /// lead it. A round trip and a look around of theirs.
  static constexpr auto hampered_pause = std::chrono::milliseconds{1000};

private:
  using clock_time = caf::actor_clock::time_point;

  enum class stage {
    starting,     ///< Compute has not shown its state yet.
    accumulating, ///< Computing batches, or nothing left to compute.
    frozen,       ///< A group is being formed; the gradient does not change.
    averaging,    ///< In a round.
    applying,     ///< The optimizer step is under way.
    fetching,     ///< Downloading the state of somebody ahead.
    finished,     ///< The last step is applied.
  };

  void enter(stage next);
  void announce(bool urgent);
  /// What to say of this peer and those whose sponsor it is.
  progress_report with_contributors() const;
  /// Averages itself, as far as is decided yet.
  bool averages() const;
  /// Has given its gradient away, and expects the step to be done soon.
  bool resting() const;
  /// The pace that goes with steps as long as this one.
  void keep_pace(duration step);
  void tell_pace();
  void tell_facts();
  void show_status();

  /// Computes the next batch if this is the time for it.
  void pump();
  std::optional<batch_request> next_batch() const;
  std::uint32_t batch_size() const;
  /// Of a step, by the speeds that are reported; 0: unknown.
  std::chrono::milliseconds computing_time() const;
  /// From what rounds took lately.
  std::chrono::milliseconds round_patience() const;
  /// From the speeds that the companions report.
  std::chrono::milliseconds
  answer_patience(const std::vector<progress_report>& companions) const;
  /// The longest that one of these, or this peer, gathers contributions for.
  duration
  sponsors_patience(const std::vector<progress_report>& companions) const;
  duration gathering_patience(const progress_report& sponsor) const;
  /// Whom some of this peer's contributors should go to.
  std::map<peer_id, contact> better_sponsors_now() const;
  void lead_if_due();
  void catch_up_if_behind();
  void tell_download(const fetch_result& r);
  /// Whether a group is averaging our very step without us and may be waited
  /// for: who has just fetched a state comes into the middle of a step.
  bool others_average(const std::vector<progress_report>& companions);
  /// Whether somebody is about to enter at our step and may be waited for.
  bool somebody_enters();
  void follow_run_as_auxiliary();
  void report_frozen();
  void tell_frozen();
  /// Asks this peer's contributors for what they have, once for each time that
  /// the gradient is frozen.
  void gather();
  /// How each of these is to pack what it hands over.
  std::vector<packing>
  contribution_packings(const std::vector<peer_id>& contributors) const;
  /// As a contributor: ends its accumulating for the sponsor that asked.
  void hand_over_if_asked();
  void give(std::shared_ptr<const std::vector<float>> gradient);
  bool sponsors(const progress_report& x) const;
  void finish();
  void finish_if_others_are_done();
  /// Whether the run's last step has been made by as many as are left here, so
  /// that a step of these would be another history's.
  bool ends_elsewhere(const std::vector<progress_report>& companions) const;
  void give_up_if_too_late();
  void note_loss(const peer_id& who);
  /// A trainer has completed the step that this peer's round is for.
  void hear_outcome(const progress_report& r);
  /// Most members of this peer's round report its step, or as many outside.
  bool step_is_done_without_us() const;
  void note_step(const state_changed& x);
  void note_silence(const round_over& x);
  /// Groups form without it for a while.
  void set_aside(const peer_id& id, duration how_long);
  /// Groups form without it, or did until a short while ago.
  bool doubted_lately(const peer_id& id) const;
  bool is_distrusted(const peer_id& id) const;
  /// Sets aside for twice as long as last time, if that was lately.
  std::chrono::seconds set_aside_longer(const peer_id& id);
  void begin_step();

  // Delayed updates (conductor_delayed.cpp).
  bool delayed() const {
    return is_trainer() && settings().delayed_updates();
  }
  /// What has been accumulated is fixed: batches from here on are the next
  /// step's. No batch runs.
  void close_gradient();
  /// Once the target batch is reached, without waiting for a group.
  void close_if_complete();
  /// It is not fixed after all, and the newer batches belong to it as well.
  void reopen_gradient();
  /// The same, when somebody left with samples that were counted on.
  void reopen_if_incomplete();
  /// Computing goes on although the stage is another.
  bool computes_ahead() const;
  std::optional<batch_request> next_batch_ahead() const;
  /// The step is made, or was not: what is left to count for the next one.
  void count_from_here();

  // Groups that are drawn anew for every step (conductor_moshpit.cpp).
  bool redraws() const {
    return settings().redraws_groups();
  }
  /// What this peer reports where it holds `held` after `step`.
  digest reported_state(std::uint64_t step, const digest& held) const;
  /// Trainers that are heard of, this one included, connected or not.
  std::vector<peer_id> known_trainers() const;
  /// With whom this peer is to average the next step; itself included.
  const std::set<peer_id>& drawn_group();
  /// Of whom a group for the next step may be: companions; where groups are
  /// redrawn, those that were drawn with us and are connected.
  std::vector<progress_report> partners();
  /// The target batch is there, or was: others have made the step.
  bool step_is_due() const;
  /// Whether others of a redrawn group are to lead it: those who reach all of
  /// it come before those who do not, as far as it is known who does.
  bool others_lead(const std::vector<progress_report>& partners,
                   std::size_t passed_over);
  void note_reach(const group_contract& contract);
  /// Nobody of a redrawn group could follow.
  bool has_nobody_to_lead(const std::vector<progress_report>& partners);
  std::uint64_t
  least_samples(const std::vector<progress_report>& partners) const;
  std::set<peer_id> out_of_reach() const;
  /// Says of those whom a group can be made with all the same that nothing
  /// passes between us, of others that they are to be avoided.
  void tell_out_of_reach(matchmaking_facts& facts);
  /// Whom to fetch a state from; empty: this peer is not behind, or not yet.
  std::vector<progress_report> donors();
  bool group_may_still_form(std::uint64_t step_ahead);
  /// Heard of, not connected: part of the draw all the same.
  void hear_of(const progress_report& r);
  bool cannot_be_reached(const peer_left& x);
  /// One group, two levels or moshpit, and why.
  std::pair<std::string, std::string>
  way_of_averaging(const group_contract& contract) const;

  bool is_trainer() const {
    return config_.role == role::trainer;
  }
  const run_settings& settings() const {
    return config_.agreed.settings();
  }

  conductor_actor::pointer self_ = nullptr;
  conductor_config config_;
  wiring wired_;
  stage stage_ = stage::starting;
  progress_report own_;
  digest held_; ///< The state; what is reported of it may be less.
  std::uint64_t gradient_values_ = 0;
  std::uint32_t micro_batch_ = 0; ///< Samples between two looks around.
  std::optional<progress_tracker> tracker_;
  /// Who has a session with us; and since when we know those that have not.
  std::set<peer_id> connected_;
  std::map<peer_id, progress_report> reports_;
  cell_tally tally_; ///< Of those among them whose sponsor this peer is.
  std::map<peer_id, clock_time> unconnected_since_;
  /// From hearsay to the session.
  deadline_estimator connecting_{{limits::connecting_floor,
                                  limits::connecting_cap,
                                  limits::connecting_patience}};
  std::set<peer_id> gone_; ///< Were connected once.

  // Accumulation.
  bool batch_running_ = false;
  /// Of the last batch asked for; begins with this actor's own number.
  std::uint64_t batch_number_ = 0;
  std::uint64_t order_seed_ = 0;
  std::uint64_t next_sample_ = 0; ///< In this peer's own order.
  double loss_sum_ = 0;
  double samples_per_second_ = 0;
  /// What `own_.samples` counts was set aside; newer samples are counted here.
  bool aside_ = false;
  std::uint64_t newer_samples_ = 0;
  double newer_loss_ = 0;
  std::uint64_t newer_allowed_ = 0; ///< Samples.
  std::uint64_t void_batch_ = 0;    ///< Its gradient was dropped.

  // Groups and rounds.
  group_id group_; ///< That the gradient is frozen for.
  /// Groups in a row that came to nothing.
  /// Since when this peer would lead, if it did not believe itself doubted.
  std::optional<caf::actor_clock::time_point> shunned_since_;
  unsigned dissolved_ = 0;
  clock_time lead_not_before_;
  bool frozen_reported_ = false;
  /// The member that has completed the step and is asked, and since when.
  std::optional<std::pair<peer_id, clock_time>> asked_outcome_;
  bool left_behind_ = false; ///< Most others have completed the step.
  std::optional<group_formed> formed_;
  group_contract planned_; ///< The last plan's; no members: there was none.
  std::optional<round_over> round_;
  /// Of the collaboration: all members wait for one round together, so that
  /// nobody has an own row.
  deadline_estimator round_times_{
      {limits::round_floor, limits::round_cap, limits::first_round_patience}};
  /// From a peer's report of the completed step to the verdict here.
  deadline_estimator verdict_times_{
      {limits::verdict_floor, limits::verdict_cap, limits::verdict_grace}};
  clock_time step_began_;
  bool in_a_step_ = false;
  /// (contributor) How far into the last step its gradient was asked for.
  std::optional<duration> asked_after_;
  double last_loss_ = 0;
  double last_share_ = 0;

  // Cells (conductor_cells.cpp).
  cell_standing standing_;
  contributor_pace pace_; ///< By the last step, or this one if it lasts.
  /// That step. At first as long as the shortest look is made for.
  duration paced_for_ = limits::looks_a_step * limits::shortest_look;
  bool standing_known_ = false;
  std::optional<cell_standing> next_standing_; ///< When no group needs us.
  bool gathering_ = false;
  bool gathered_ = false; ///< Since the gradient was frozen.
  std::optional<contribution_wanted> asked_for_; ///< By the sponsor.
  std::uint64_t gave_at_step_ = 0;
  clock_time rests_until_;

  // Redrawn groups (conductor_moshpit.cpp).
  std::vector<peer_id> drawn_from_;
  std::uint64_t drawn_for_ = 0;    ///< Step held.
  std::set<peer_id> drawn_;        ///< Of these, for the step after that.
  std::set<peer_id> out_of_touch_; ///< Could not be dialled.
  std::set<peer_id> hampered_;     ///< Did not reach all of some group of ours.
  std::optional<clock_time> behind_since_; ///< By one step.
  std::uint64_t fetches_ = 0;

  // Catching up.
  leader_order leaders_; ///< Of groups for this step.
  clock_time next_fetch_;
  clock_time fetch_began_;
  std::uint64_t samples_before_fetch_ = 0;
  digest state_before_fetch_;
  finishers finishers_;
  std::optional<clock_time> too_late_since_; ///< To make the last step.
  bool uncounted_batch_ = false; ///< One ended meanwhile: in the gradient only.
  struct distrust {
    clock_time until;
    /// Because of what others say: honest or not, it may lead groups.
    bool contradicted = false;
  };
  std::map<peer_id, distrust> distrusted_;
  /// In disputes about means: how often lately, and when last.
  std::map<peer_id, std::pair<unsigned, clock_time>> doubts_;
  /// Rounds in a row in which a member kept silent.
  std::map<peer_id, unsigned> silences_;
  struct entrance {
    std::optional<clock_time> since; ///< Waited for.
    clock_time again;                ///< Not before.
  };
  std::map<peer_id, entrance> entrances_;

  phase announced_phase_ = phase::joining;
  clock_time announced_at_;
  std::optional<clock_time> group_due_since_; ///< The target batch is there.
  std::optional<clock_time> others_average_since_; ///< Waited for.
  clock_time others_looked_at_;                    ///< The last time.
  std::optional<clock_time> finished_at_;
  backlog laggards_;          ///< Then.
  clock_time laggards_moved_; ///< When `laggards_` became what it is.
  std::optional<clock_time> lost_trainer_at_; ///< Without a goodbye.
  split_watch splits_;
  bool over_ = false;
  bool checkpoint_pending_ = false;
  clock_time next_status_;
};

conductor_actor::behavior_type
conductor(conductor_actor::stateful_pointer<conductor_state> self,
          conductor_config config);

} // namespace potluck
