/// What a peer's step goes by: the facts that `step_machine` hears. Plain
/// structs; in a peer they are the messages of its actors (actors/mailbox.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/cells.hpp"
#include "messages/matchmaking.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/organiser/run_terms.hpp"
#include "runtime/planning/share_plan.hpp"
#include "runtime/ports/trainer.hpp"
#include "runtime/state/fetch_goal.hpp"
#include "runtime/ways/cells/gathering.hpp"
#include "runtime/ways/contributions.hpp"

namespace potluck {

/// Those around this peer's step are there, perhaps anew.
struct surroundings {
  /// One of them says how this peer takes part (`cell_standing`).
  bool decide_place = false;
};

/// Some time has passed.
struct time_passed {};

// ---- the others -------------------------------------------------------------

/// A peer is connected; said again when what is said of it has changed.
struct peer_joined {
  contact who;
  potluck::role role = potluck::role::trainer;
  std::string run;
  digest charter;
  /// This peer's own host, as the other one sees it.
  std::string seen_host;
  bool dialled_us = false; ///< From a host that this peer never dialled.
  /// There is no line but through a hub: good for letters, not for gradients.
  bool relayed = false;
  bool is_hub = false; ///< It passes circuits on.
  bool routes = true;  ///< It is one of the DHT's nodes.
  /// How far its clock is ahead of ours, in milliseconds; none: it has not
  /// said.
  std::optional<std::int64_t> clock_ahead_ms = std::nullopt;
  bool was_dialled = false; ///< By this peer, which has chosen it.
};

struct peer_left {
  peer_id id;
  std::string reason;
  bool orderly = false; ///< One of the two said goodbye.
  /// That was this peer, which has no need of it: the other is still there.
  bool unneeded = false;
};

/// A fresh report of another peer, directly or through the DHT.
struct report_heard {
  progress_report report;
  bool connected = false; ///< There is a session with its peer.
};

/// Gateway to conductor: what our line was seen to do, in bytes per second; 0
/// where it is unknown.
struct line_measured {
  double upload = 0;
  double download = 0;
  std::vector<slow_pair> slow_pairs; ///< The slowest first, `max_slow_pairs`.
};

/// The averager to the conductor: these members lied, or contradict others. Or
/// the roster: it has banned them.
/// Groups form without them for a while; this peer may be among them.
struct members_doubted {
  std::vector<peer_id> who;
  std::string why;
  /// By whoever has banned them; else as long as their record asks for.
  std::optional<duration> for_so_long = std::nullopt;
  /// By their own word alone: nobody stands against them.
  bool own_fault = false;
  /// Nothing but that: they have held a group up for so long; zero: the round
  /// that runs, as long as it lasts.
  std::optional<duration> held_up = std::nullopt;
};

// ---- computing --------------------------------------------------------------

struct batch_done {
  std::uint64_t step = 0;
  std::uint64_t number = 0;
  batch_result result;
  double seconds = 0;
};

/// From compute to whoever borrows: this peer's flat gradient, summed over its
/// samples. It stays as it is.
struct gradient_lent {
  std::shared_ptr<const std::vector<float>> gradient;
  group_id round = {}; ///< As in `lend_gradient`.
};

/// The training state that compute now holds.
struct state_changed {
  std::uint64_t step = 0;
  std::uint64_t history_samples = 0;
  /// Empty: it holds none of this run's yet (`run_settings::initial`), and one
  /// is to be fetched.
  digest state;
  std::uint64_t gradient_values = 0; ///< As many as the model's parameters.
  /// Of the parameters that the step began with, if its group was redrawn: the
  /// mean of that group's.
  digest averaged = {};
  std::uint32_t usual_request = 0; ///< Samples: what keeps the trainer busy.
  bool applied = false;            ///< By an optimizer step, not by loading.
  std::string problem; ///< Not empty: the mean was refused, nothing changed.
};

// ---- the group and its round ------------------------------------------------

struct freeze_wanted {
  group_id group;
};

struct group_formed {
  group_contract contract;
  share_plan plan;
};

struct group_dissolved {
  group_id group;
  std::string reason;
  /// Its contract counted other samples than members have shown: others are to
  /// lead. Empty: nobody's did.
  peer_id miscounter = {};
};

struct round_over {
  group_contract contract;
  bool committed = false;
  std::shared_ptr<const std::vector<float>> mean; ///< Null when not committed,
                                                  ///< and for spectators.
  std::uint64_t samples = 0; ///< Behind every value: what the step counts.
  /// Indices in the contract of those whose gradient is not in every chunk.
  std::vector<std::uint8_t> left_out;
  bool healed = false; ///< Somebody was lost, and the others went on.
  /// Connected trainers that kept silent until this member lost patience, as
  /// far as it ought to have heard of them.
  std::vector<peer_id> silent;
  /// Whether it ought to have heard of all, and would have named the silent.
  bool watched = false;
  /// Auxiliaries that did not average what the plan gave them, or came late.
  std::vector<peer_id> stalled;
  double seconds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
};

// ---- contributions ----------------------------------------------------------

/// Cell to conductor: how this trainer takes part.
struct cell_standing {
  bool contributes = false;
  peer_id sponsor;           ///< Of a contributor; empty while it has none.
  std::uint32_t members = 0; ///< Known to average, this peer included if it is.
};

/// A contributor's gradient has come whole.
struct contribution_ready {
  std::shared_ptr<const contribution> what;
};

/// All that were to be gathered are in, or were waited for long enough.
struct gathering_over {
  std::uint64_t step = 0;
};

// ---- the run's history

/// By whom a newcomer goes, as those show that it trusts: those that made a
/// step, with what each weighs. Empty: they have none to show.
struct roots_known {
  std::map<peer_id, double> makers;
};

// ---- the organiser's word ---------------------------------------------------

/// What holds in the run from here on; the conductor passes it to compute.
struct terms_known {
  shared_terms terms;
};

// ---- downloads and checkpoints ----------------------------------------------

/// Compute holds the state of `result.step`, and nothing more follows.
struct state_fetched {
  fetch_result result;
};

struct state_fetch_failed {
  std::string reason;
  bool put_aside = false; ///< What has come is kept for the next fetch.
};

/// It sent something wrong: its reports are not to be believed for a while.
struct donor_distrusted {
  peer_id donor;
  std::string what;
};

struct checkpoint_saved {
  std::uint64_t step = 0;
  std::string path;
  std::string problem; ///< Empty on success.
};

} // namespace potluck
