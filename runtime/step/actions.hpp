/// What a peer's step asks of those around it: the actions that `step_machine`
/// returns. Plain structs; in a peer they are the messages of its actors
/// (actors/mailbox.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/contact.hpp"
#include "messages/history.hpp"
#include "messages/matchmaking.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/event_log.hpp"
#include "runtime/matchmaking/matchmaking_facts.hpp"
#include "runtime/planning/share_plan.hpp"
#include "runtime/ports/trainer.hpp"
#include "runtime/state/fetch_goal.hpp"
#include "runtime/state/pieces.hpp"
#include "runtime/step/facts.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"
#include "runtime/ways/cells/gathering.hpp"
#include "runtime/ways/contributions.hpp"

namespace potluck {

// ---- to compute -------------------------------------------------------------

struct compute_batch {
  std::uint64_t step = 0; ///< The step whose gradient this belongs to.
  batch_request request;
  /// Comes back, so that nobody counts a batch that somebody else asked for.
  std::uint64_t number = 0;
};

/// Two gradients at most: what batches add up to, and what was set aside of it.
/// The conductor says which it means, for only it knows what it has counted,
/// and who gets it.
struct lend_gradient {
  bool aside = false;
  /// That count: for a redrawn group, as the weight of the parameters behind
  /// it.
  std::uint64_t samples = 0;
  bool with_parameters = false;
  /// To the averager, for this round; empty: to the conductor, for a sponsor.
  group_id round = {};
  /// In it. Where others count, a scaled copy is lent. 0: those.
  std::uint64_t computed = 0;
};

/// Forget what was set aside, and what has been accumulated since, if anything.
struct drop_gradient {
  bool only_aside = false;
};

/// What has been accumulated is complete: batches from here on add up apart.
struct set_gradient_aside {};

/// What was set aside is not complete after all.
struct take_gradient_back {
  bool with_newer = true; ///< Add what has been accumulated since, or drop it.
};

struct apply_mean {
  std::uint64_t step = 0;    ///< That the mean completes: one more than held.
  std::uint64_t samples = 0; ///< Behind the mean.
  std::shared_ptr<const std::vector<float>> mean;
  /// Apply it beside batches and touch no gradient. Else it is applied behind
  /// them, and all gradients are dropped.
  bool beside = false;
  bool redrawn = false; ///< Of a redrawn group: parameters lie behind it.
};

/// Conductor to compute: add this to the gradient, if it is for this step.
struct add_gradient {
  std::shared_ptr<const contribution> what;
  bool aside = false; ///< To what was set aside.
};

// ---- to matchmaking and the averager ----------------------------------------

/// Conductor to matchmaking: lead a group for this step.
struct lead_group {
  std::vector<contact> invitees;
  std::vector<potluck::role> roles; ///< Of the invitees, in their order.
  /// Of what they say of their lines, so many bytes a second count; 0: all.
  std::vector<double> most_lines;
  std::vector<peer_id> shunned; ///< Trainers that are not invited.
  /// For the answers: as long as the slowest member's batch may take.
  std::chrono::milliseconds answer_patience{0};
  /// For news in the round, in which nobody computes.
  std::chrono::milliseconds round_patience{0};
  /// That all take together to compute a step; 0: unknown.
  std::chrono::milliseconds computing{0};
  /// With so many the group begins at least; 0: with the run's target batch.
  std::uint64_t least_samples = 0;
};

struct gradient_frozen {
  group_id group;
  std::uint64_t samples = 0;
  double loss_sum = 0;
};

/// If this peer brings a gradient, compute lends it to the averager.
struct begin_round {
  group_contract contract;
  share_plan plan;
  /// A part of the group completes the round only with more than half of its
  /// samples: where groups are redrawn.
  bool keeps_majority = false;
};

/// A member, or this peer itself, will take no part in the round after all.
struct member_withdrew {
  group_id group;
  peer_id member;
};

/// To the averager, if its round still runs: this trainer has completed the
/// step, or a later one, and is to be asked.
struct outcome_known {
  group_id group;
  peer_id member;
  std::chrono::milliseconds patience{0}; ///< For its answer.
  bool asked = false;                    ///< The averager's note to itself.
};

/// Ask so, after this time.
struct outcome_question {
  outcome_known what;
  duration after{0};
};

// ---- to the cell ------------------------------------------------------------

/// Conductor to cell: whether it is in this peer's gradient now.
struct contribution_taken {
  peer_id from;
  bool accepted = false;
};

/// Conductor to cell: send it. Without a gradient: there is none, for `reason`.
struct hand_over {
  peer_id to;
  std::uint64_t number = 0;
  std::uint64_t samples = 0;
  double loss_sum = 0;
  std::shared_ptr<const std::vector<float>> gradient;
  std::string reason;
};

// ---- to the state keeper ----------------------------------------------------

/// Catch up with the history that these donors report.
struct fetch_state {
  fetch_goal goal;
};

/// Compute is to hold this state of earlier again, where it was kept here, or
/// else the one before the first step. `state_fetched` says so then.
struct go_back {
  roll_back to;
};

/// A step was applied: its mean, for those who missed it.
struct mean_applied {
  passed_mean mean;
};

struct save_checkpoint_now {
  std::uint64_t step = 0;
};

/// The state with this digest is held, and may take the place of an older
/// checkpoint when this peer leaves.
struct may_be_saved {
  digest state;
};

// ---- to the history keeper

/// A step of this peer's, with the signatures that have come.
struct step_signed {
  signed_step what;
};

// ---- to others and to people ------------------------------------------------

/// What this peer wants others to know; sent on when it changes.
struct own_report {
  progress_report report;
  bool urgent = false; ///< Tell connected peers now, not at the next tick.
  peer_id leader;      ///< Whose turn to lead it is: it hears first.
};

/// What a person wants to see at a glance.
struct run_status {
  std::uint64_t step = 0;
  std::uint64_t steps = 0;
  std::uint64_t samples = 0; ///< Of all that are known, for the next step.
  double loss = 0;
  double samples_per_second = 0; ///< Of the whole collaboration.
  double own_share = 0;          ///< Own samples in the last step, 0 to 1.
  std::uint32_t peers = 0;       ///< This one included.
  potluck::phase phase = potluck::phase::joining;
  std::optional<double> seconds_to_next_step;
  std::string trouble; ///< Why it does not go on, or well; may be empty.
};

/// The peer is over: the run is finished, or `problem` says why not.
struct peer_over {
  std::string problem; ///< Empty when all is well.
  bool users_mistake = false;
};

/// Let time pass, and say so.
struct look_later {
  duration after{0};
};

using step_action = std::variant<
    compute_batch, lend_gradient, drop_gradient, set_gradient_aside,
    take_gradient_back, apply_mean, add_gradient, matchmaking_facts, lead_group,
    gradient_frozen, begin_round, member_withdrew, outcome_question,
    gather_contributions, contribution_taken, hand_over, fetch_state, go_back,
    terms_known, mean_applied, save_checkpoint_now, may_be_saved, own_report,
    contributor_pace, report_heard, step_signed, event, run_status, peer_over,
    look_later>;

} // namespace potluck
