/// What the actors of one peer say to each other: plain structs, none of which
/// ever leaves the process (peers talk through messages/, over the transport).
///
/// All of them are therefore declared to CAF as local-only; sending one to
/// another process would be a bug, and CAF refuses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include "actors/averaging_mail.hpp"
#include "actors/network_mail.hpp"
#include "messages/message.hpp"
#include "runtime/event_log.hpp"
#include "runtime/matchmaking/leader_order.hpp"
#include "runtime/membership/misconduct.hpp"
#include "runtime/planning/share_plan.hpp"
#include "runtime/ports/trainer.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/state/artifact_list.hpp"
#include "runtime/state/fetch_goal.hpp"
#include "runtime/state/pieces.hpp"
#include "runtime/state/training_state.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/facts.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"
#include "runtime/ways/cells/gathering.hpp"
#include "runtime/ways/cells/mean_chain.hpp"

namespace potluck {

// ---- time ------------------------------------------------------------------

/// An actor's own periodic or delayed wake-up.
struct tick {};
/// A deadline that an actor set itself; `number` tells it from older ones.
struct deadline_passed {
  std::uint64_t number = 0;
};

// ---- admission (runtime/admission) -----------------------------------------

/// To the gateway: whether a guest is admitted is to be looked at anew; or,
/// with this peer's own id, whether all of them are, who see its admission.
struct admission_news {
  peer_id of;
};
/// Admission keeper to the supervisor: this peer is admitted to its run.
struct run_entered {};

// ---- roster: who is there --------------------------------------------------

/// A peer has sent what no honest one sends.
struct offence_seen {
  peer_id who;
  misconduct::witness witness = misconduct::witness::alone;
  std::string occasion; ///< The round it happened in.
  std::string evidence;
};
/// A remote peer and this one do not go together; `sentence` says what to do.
struct peer_refused {
  address where; ///< As we dialled it, if we did.
  std::string sentence;
  bool dialled = false; ///< By us: it is we who wanted something.
};

/// The expert host to the peer that leaves: nothing keeps it here any more.
struct hand_over_done {};

/// Roster to the address keeper: a connected peer can be dialled there.
struct answered_at {
  contact who;
  bool proven = false; ///< It answered a dial, rather than says so.
};
/// Address keeper to roster: dial these when nobody else is left.
struct more_seeds {
  std::vector<address> where;
};
/// The address keeper's thread: this went wrong.
struct addresses_written {
  std::string problem;
};
/// Roster to the expert host, the address keeper and whoever stands beside:
/// where others reach this peer.
struct reachable_at {
  address where;
};

// ---- router ----------------------------------------------------------------

/// The router seals it. Of one key this peer has one record.
struct publish_record {
  dht_record record;
  /// Of the closest nodes, at how many; 0: at all that a look-up finds.
  std::uint32_t copies = 0;
};
struct records_looked_up {
  record_key key;
  std::vector<dht_record> records;
  /// Nodes that answered, this one excluded.
  std::uint32_t answers = 0;
  /// Records of the key, as most of these say: not all may have been asked for.
  std::uint32_t stored = 0;
};
/// The record reached this many other nodes.
struct record_published {
  record_key key;
  std::uint32_t copies = 0;
};

// ---- charter ---------------------------------------------------------------

/// The run's settings are agreed: the rest of the peer can start.
struct charter_agreed {
  charter agreed;
  bool founded = false; ///< By this peer.
};
/// What the handshake shows of us, kept by the gateway.
struct charter_known {
  digest id;
  std::vector<setting> settings;
};
struct proposal_ready {
  charter proposed;
};
struct proposal_failed {
  std::string sentence;
};

// ---- artifacts --------------------------------------------------------------

/// The artifact keeper's thread: the sums of the pieces of those that are here.
struct artifacts_looked_at {
  std::map<std::string, piece_sums> here; ///< By their names.
  /// What was found to be damaged, in sentences.
  std::vector<std::string> damaged;
};
/// The same: which pieces of one that was not finished are here.
struct pieces_looked_at {
  artifact of;
  std::vector<bool> sound;
};
/// The same: one has come as a whole, and is sound. What goes wrong is a
/// `work_failed`.
struct artifact_finished {
  artifact of;
  piece_sums sums;
};
/// Artifact keeper to the supervisor: all that the run's trainers need are on
/// this machine.
struct artifacts_here {};

// ---- the organiser's word ---------------------------------------------------

/// To the amendment keeper: the manifest of a run whose amendments it is to
/// keep.
struct manifest_known {
  std::string run; ///< Its key.
  std::shared_ptr<const std::string> bytes;
};
/// Amendment keeper to gateway: whom to refuse, and to send away, of a run.
struct bans_known {
  std::string run;
  std::set<peer_id> who;
};

// ---- compute ---------------------------------------------------------------

/// Replace the training state; the accumulated gradient is dropped.
struct adopt_state {
  std::shared_ptr<training_state> state; ///< Null: that before the first step.
};
/// The state keeper's thread, to itself: what was to be held again.
struct kept_state_read {
  std::shared_ptr<training_state> state; ///< Null: it is not here.
  std::string problem;                   ///< Why not.
};
struct take_snapshot {};
struct snapshot_taken {
  std::shared_ptr<const training_state> state;
};
/// The worker thread threw: the trainer is unusable.
struct work_failed {
  std::string sentence;
};

// ---- cells -----------------------------------------------------------------

/// Roster to router: the peer is no node of the DHT, or not any more. It still
/// answers what it was asked, but nobody should hear of it.
struct routes_no_more {
  peer_id id;
};
/// Cell to roster: whom to be connected with.
struct links_wanted {
  bool everybody = true; ///< All that average.
  /// And those that have not decided yet: most will contribute in a crowd.
  bool newcomers = true;
  std::vector<peer_id> who; ///< When not everybody.
  /// Of a contributor: whom to dial besides, and who dials it. It does without
  /// them when that fails.
  contact nearer = {};
  peer_id farther = {};
  contact better = {}; ///< The member that it should go to; dialled, too.

  friend bool operator==(const links_wanted& a, const links_wanted& b) {
    return a.everybody == b.everybody && a.newcomers == b.newcomers
           && a.who == b.who && a.nearer == b.nearer && a.farther == b.farther
           && a.better == b.better;
  }
};
/// Cell to state keeper: the connected contributor to ask first for the mean of
/// a step; empty: only who has it.
struct mean_relay {
  peer_id who;
};
/// Roster to cell: the DHT was asked who is in the run, and what it named was
/// told.
struct run_looked_up {
  /// Records that there are of it, where few of them were told: of all who
  /// average, of newcomers, and of some who do not train. 0: all were told.
  std::uint32_t published = 0;
};

} // namespace potluck

#define POTLUCK_LOCAL_MESSAGE(type)                                            \
  CAF_ALLOW_UNSAFE_MESSAGE_TYPE(::potluck::type)

POTLUCK_LOCAL_MESSAGE(event)
POTLUCK_LOCAL_MESSAGE(tick)
POTLUCK_LOCAL_MESSAGE(deadline_passed)
POTLUCK_LOCAL_MESSAGE(connection_accepted)
POTLUCK_LOCAL_MESSAGE(connection_opened)
POTLUCK_LOCAL_MESSAGE(connection_closed)
POTLUCK_LOCAL_MESSAGE(frame_arrived)
POTLUCK_LOCAL_MESSAGE(traffic_seen)
POTLUCK_LOCAL_MESSAGE(line_measured)
POTLUCK_LOCAL_MESSAGE(letter)
POTLUCK_LOCAL_MESSAGE(parcel)
POTLUCK_LOCAL_MESSAGE(call)
POTLUCK_LOCAL_MESSAGE(dial_contact)
POTLUCK_LOCAL_MESSAGE(circuits_owe)
POTLUCK_LOCAL_MESSAGE(try_to_reach)
POTLUCK_LOCAL_MESSAGE(reach_proven)
POTLUCK_LOCAL_MESSAGE(ask_for_port)
POTLUCK_LOCAL_MESSAGE(port_seen)
POTLUCK_LOCAL_MESSAGE(port_mapped)
POTLUCK_LOCAL_MESSAGE(reach_known)
POTLUCK_LOCAL_MESSAGE(punch_holes)
POTLUCK_LOCAL_MESSAGE(punches_failed)
POTLUCK_LOCAL_MESSAGE(averaged_without_us)
POTLUCK_LOCAL_MESSAGE(dial_succeeded)
POTLUCK_LOCAL_MESSAGE(dial_failed)
POTLUCK_LOCAL_MESSAGE(gateway_ready)
POTLUCK_LOCAL_MESSAGE(connection_added)
POTLUCK_LOCAL_MESSAGE(leave_run)
POTLUCK_LOCAL_MESSAGE(drop_peer)
POTLUCK_LOCAL_MESSAGE(no_strangers)
POTLUCK_LOCAL_MESSAGE(windows_planned)
POTLUCK_LOCAL_MESSAGE(admission_news)
POTLUCK_LOCAL_MESSAGE(run_entered)
POTLUCK_LOCAL_MESSAGE(peer_joined)
POTLUCK_LOCAL_MESSAGE(peer_left)
POTLUCK_LOCAL_MESSAGE(report_heard)
POTLUCK_LOCAL_MESSAGE(offence_seen)
POTLUCK_LOCAL_MESSAGE(own_report)
POTLUCK_LOCAL_MESSAGE(peer_refused)
POTLUCK_LOCAL_MESSAGE(answered_at)
POTLUCK_LOCAL_MESSAGE(more_seeds)
POTLUCK_LOCAL_MESSAGE(addresses_written)
POTLUCK_LOCAL_MESSAGE(reachable_at)
POTLUCK_LOCAL_MESSAGE(hand_over_done)
POTLUCK_LOCAL_MESSAGE(publish_record)
POTLUCK_LOCAL_MESSAGE(records_looked_up)
POTLUCK_LOCAL_MESSAGE(record_published)
POTLUCK_LOCAL_MESSAGE(charter_agreed)
POTLUCK_LOCAL_MESSAGE(charter_known)
POTLUCK_LOCAL_MESSAGE(proposal_ready)
POTLUCK_LOCAL_MESSAGE(proposal_failed)
POTLUCK_LOCAL_MESSAGE(artifacts_looked_at)
POTLUCK_LOCAL_MESSAGE(pieces_looked_at)
POTLUCK_LOCAL_MESSAGE(artifact_finished)
POTLUCK_LOCAL_MESSAGE(artifacts_here)
POTLUCK_LOCAL_MESSAGE(manifest_known)
POTLUCK_LOCAL_MESSAGE(terms_known)
POTLUCK_LOCAL_MESSAGE(roots_known)
POTLUCK_LOCAL_MESSAGE(step_signed)
POTLUCK_LOCAL_MESSAGE(bans_known)
POTLUCK_LOCAL_MESSAGE(go_back)
POTLUCK_LOCAL_MESSAGE(kept_state_read)
POTLUCK_LOCAL_MESSAGE(compute_batch)
POTLUCK_LOCAL_MESSAGE(batch_done)
POTLUCK_LOCAL_MESSAGE(gradient_lent)
POTLUCK_LOCAL_MESSAGE(lend_gradient)
POTLUCK_LOCAL_MESSAGE(drop_gradient)
POTLUCK_LOCAL_MESSAGE(set_gradient_aside)
POTLUCK_LOCAL_MESSAGE(take_gradient_back)
POTLUCK_LOCAL_MESSAGE(apply_mean)
POTLUCK_LOCAL_MESSAGE(state_changed)
POTLUCK_LOCAL_MESSAGE(adopt_state)
POTLUCK_LOCAL_MESSAGE(take_snapshot)
POTLUCK_LOCAL_MESSAGE(snapshot_taken)
POTLUCK_LOCAL_MESSAGE(work_failed)
POTLUCK_LOCAL_MESSAGE(fetch_state)
POTLUCK_LOCAL_MESSAGE(state_fetched)
POTLUCK_LOCAL_MESSAGE(state_fetch_failed)
POTLUCK_LOCAL_MESSAGE(donor_distrusted)
POTLUCK_LOCAL_MESSAGE(mean_applied)
POTLUCK_LOCAL_MESSAGE(save_checkpoint_now)
POTLUCK_LOCAL_MESSAGE(may_be_saved)
POTLUCK_LOCAL_MESSAGE(checkpoint_saved)
POTLUCK_LOCAL_MESSAGE(lead_group)
POTLUCK_LOCAL_MESSAGE(matchmaking_facts)
POTLUCK_LOCAL_MESSAGE(freeze_wanted)
POTLUCK_LOCAL_MESSAGE(gradient_frozen)
POTLUCK_LOCAL_MESSAGE(group_formed)
POTLUCK_LOCAL_MESSAGE(group_dissolved)
POTLUCK_LOCAL_MESSAGE(begin_round)
POTLUCK_LOCAL_MESSAGE(round_begun)
POTLUCK_LOCAL_MESSAGE(member_withdrew)
POTLUCK_LOCAL_MESSAGE(outcome_known)
POTLUCK_LOCAL_MESSAGE(out_of_touch)
POTLUCK_LOCAL_MESSAGE(part_arrived)
POTLUCK_LOCAL_MESSAGE(part_given_up)
POTLUCK_LOCAL_MESSAGE(part_unfit)
POTLUCK_LOCAL_MESSAGE(parts_complete)
POTLUCK_LOCAL_MESSAGE(parts_overdue)
POTLUCK_LOCAL_MESSAGE(means_placed)
POTLUCK_LOCAL_MESSAGE(mean_ready)
POTLUCK_LOCAL_MESSAGE(inquiry_due)
POTLUCK_LOCAL_MESSAGE(members_doubted)
POTLUCK_LOCAL_MESSAGE(part_refused)
POTLUCK_LOCAL_MESSAGE(round_over)
POTLUCK_LOCAL_MESSAGE(run_status)
POTLUCK_LOCAL_MESSAGE(peer_over)
POTLUCK_LOCAL_MESSAGE(cell_standing)
POTLUCK_LOCAL_MESSAGE(contributor_pace)
POTLUCK_LOCAL_MESSAGE(routes_no_more)
POTLUCK_LOCAL_MESSAGE(links_wanted)
POTLUCK_LOCAL_MESSAGE(mean_relay)
POTLUCK_LOCAL_MESSAGE(run_looked_up)
POTLUCK_LOCAL_MESSAGE(gather_contributions)
POTLUCK_LOCAL_MESSAGE(contribution_ready)
POTLUCK_LOCAL_MESSAGE(contribution_taken)
POTLUCK_LOCAL_MESSAGE(gathering_over)
POTLUCK_LOCAL_MESSAGE(contribution_wanted)
POTLUCK_LOCAL_MESSAGE(hand_over)
POTLUCK_LOCAL_MESSAGE(add_gradient)
