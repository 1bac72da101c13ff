/// Every actor's typed handle, a sentence per message: the org chart.
///
/// Actors hold the narrowest handle that serves them. What an actor may talk to
/// it gets in a struct of its own (actors/handles.hpp).
#pragma once

#include "actors/mailbox.hpp"

namespace potluck {

struct gateway_handles;
struct session_handles;
struct roster_handles;
struct router_handles;
struct address_keeper_handles;
struct charter_shelf_handles;
struct admission_handles;
struct authority_handles;
struct claims_answered;
struct claim_vetted;
struct hole_maker_handles;
struct registrar_handles;
struct amendment_keeper_handles;
struct history_keeper_handles;
struct artifact_keeper_handles;
struct state_keeper_handles;
struct compute_handles;
struct cell_handles;
struct conductor_handles;
struct matchmaking_handles;
struct averager_handles;
struct expert_host_handles;
struct expert_caller_handles;
struct look_up_records;

// ---- narrow handles --------------------------------------------------------

/// Reads what remote peers write.
using letter_reader = caf::typed_actor<caf::reacts_to<letter>>;

/// Takes letters for connected peers.
using parcel_carrier = caf::typed_actor<caf::reacts_to<parcel>>;

/// Hears who comes and goes.
using peers_listener
    = caf::typed_actor<caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>>;

/// Stands beside a peer: hears that, and where others reach the peer.
using companion_actor
    = caf::typed_actor<caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
                       caf::reacts_to<reachable_at>>;

/// Hears what no honest peer does.
using offence_reader = caf::typed_actor<caf::reacts_to<offence_seen>>;

/// Gets the mean of a chunk, once, and hears of parts that are no good or do
/// not come.
using mean_listener
    = caf::typed_actor<caf::reacts_to<mean_ready>, caf::reacts_to<part_refused>,
                       caf::reacts_to<parts_overdue>>;

/// Hears which holes have led nowhere.
using punches_listener = caf::typed_actor<caf::reacts_to<punches_failed>>;

/// Borrows this peer's gradient: the averager, or the conductor for a sponsor.
using gradient_borrower = caf::typed_actor<caf::reacts_to<gradient_lent>>;

/// Asked the router for records.
using records_reader = caf::typed_actor<caf::reacts_to<records_looked_up>>;

/// Ask the router for the records of a key.
struct look_up_records {
  record_key key;
  records_reader asker;
  /// Raw bytes of sub-keys whose records it does not want.
  std::vector<std::string> known = {};
  /// Of each node that answers, any so many others; 0: all.
  std::uint32_t most = 0;
  /// What is not found would be founded anew, or never be found: nobody on the
  /// way may hide it.
  bool matters = false;
};

/// Publishes records and finds those of others.
using record_finder = caf::typed_actor<caf::reacts_to<publish_record>,
                                       caf::reacts_to<look_up_records>>;

/// Sees the run from outside: events for logs, a status for people, the end.
using observer_actor
    = caf::typed_actor<caf::reacts_to<event>, caf::reacts_to<run_status>,
                       caf::reacts_to<peer_over>>;

// ---- the actors ------------------------------------------------------------

/// Owns the transport; turns connections into sessions and parcels into frames.
using gateway_actor = caf::typed_actor<
    caf::reacts_to<gateway_handles>, caf::reacts_to<connection_accepted>,
    caf::reacts_to<connection_opened>, caf::reacts_to<connection_closed>,
    caf::reacts_to<frame_arrived>, caf::reacts_to<traffic_seen>,
    caf::reacts_to<parcel>, caf::reacts_to<call>, caf::reacts_to<dial_contact>,
    caf::reacts_to<try_to_reach>, caf::reacts_to<ask_for_port>,
    caf::reacts_to<punch_holes>, caf::reacts_to<reach_known>,
    caf::reacts_to<charter_known>, caf::reacts_to<bans_known>,
    caf::reacts_to<drop_peer>, caf::reacts_to<admission_news>,
    caf::reacts_to<no_strangers>, caf::reacts_to<windows_planned>,
    caf::reacts_to<circuits_owe>, caf::reacts_to<leave_run>,
    caf::reacts_to<tick>>;

/// Stands for one connected peer; ends when the peer does.
using session_actor = caf::typed_actor<
    caf::reacts_to<session_handles>, caf::reacts_to<frame_arrived>,
    caf::reacts_to<traffic_seen>, caf::reacts_to<connection_added>,
    caf::reacts_to<connection_closed>, caf::reacts_to<parcel>,
    caf::reacts_to<leave_run>, caf::reacts_to<tick>>;

/// Knows who is in the run, dials them, passes their reports on, publishes
/// ours, bans who misbehaves.
using roster_actor = caf::typed_actor<
    caf::reacts_to<roster_handles>, caf::reacts_to<peer_joined, session_actor>,
    caf::reacts_to<gateway_ready>, caf::reacts_to<dial_succeeded>,
    caf::reacts_to<dial_failed>, caf::reacts_to<peer_refused>,
    caf::reacts_to<letter>, caf::reacts_to<offence_seen>,
    caf::reacts_to<reach_proven>, caf::reacts_to<port_seen>,
    caf::reacts_to<port_mapped>, caf::reacts_to<own_report>,
    caf::reacts_to<contributor_pace>, caf::reacts_to<links_wanted>,
    caf::reacts_to<records_looked_up>, caf::reacts_to<record_published>,
    caf::reacts_to<more_seeds>, caf::reacts_to<no_strangers>,
    caf::reacts_to<tick>>;

/// Kademlia: answers routing messages, looks records up, publishes ours.
using router_actor = caf::typed_actor<
    caf::reacts_to<router_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<dial_failed>, caf::reacts_to<routes_no_more>,
    caf::reacts_to<links_wanted>, caf::reacts_to<publish_record>,
    caf::reacts_to<look_up_records>, caf::reacts_to<tick>>;

/// Keeps addresses for the next start, and finds bootstraps.
using address_keeper_actor = caf::typed_actor<
    caf::reacts_to<address_keeper_handles>, caf::reacts_to<gateway_ready>,
    caf::reacts_to<reachable_at>, caf::reacts_to<answered_at>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<records_looked_up>, caf::reacts_to<addresses_written>,
    caf::reacts_to<tick>>;

/// Keeps the charters of others' runs, as a bootstrap.
using charter_shelf_actor
    = caf::typed_actor<caf::reacts_to<charter_shelf_handles>,
                       caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
                       caf::reacts_to<peer_left>>;

/// Gets this peer admitted to its run, keeps it so, and vouches for others.
using admission_keeper_actor
    = caf::typed_actor<caf::reacts_to<admission_handles>,
                       caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
                       caf::reacts_to<peer_left>,
                       caf::reacts_to<records_looked_up>,
                       caf::reacts_to<charter_agreed>, caf::reacts_to<tick>>;

/// Admits peers to runs, as their authority.
using authority_actor = caf::typed_actor<
    caf::reacts_to<authority_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<claims_answered>, caf::reacts_to<claim_vetted>>;

/// Gets direct lines to peers that only circuits lead to.
using hole_maker_actor = caf::typed_actor<
    caf::reacts_to<hole_maker_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<report_heard>, caf::reacts_to<reach_known>,
    caf::reacts_to<punches_failed>, caf::reacts_to<deadline_passed>>;

/// Finds the run's charter, or founds the run.
using registrar_actor = caf::typed_actor<
    caf::reacts_to<registrar_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<report_heard>, caf::reacts_to<records_looked_up>,
    caf::reacts_to<reach_known>, caf::reacts_to<proposal_ready>,
    caf::reacts_to<proposal_failed>, caf::reacts_to<tick>>;

/// Keeps what runs' organisers have signed, and passes it on.
using amendment_keeper_actor
    = caf::typed_actor<caf::reacts_to<amendment_keeper_handles>,
                       caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
                       caf::reacts_to<peer_left>,
                       caf::reacts_to<manifest_known>, caf::reacts_to<tick>>;

/// Keeps what proves runs' histories, and shows it.
using history_keeper_actor
    = caf::typed_actor<caf::reacts_to<history_keeper_handles>,
                       caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
                       caf::reacts_to<peer_left>, caf::reacts_to<step_signed>,
                       caf::reacts_to<tick>>;

/// Fetches the run's artifacts, and gives them to others.
using artifact_keeper_actor = caf::typed_actor<
    caf::reacts_to<artifact_keeper_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<artifacts_looked_at>, caf::reacts_to<pieces_looked_at>,
    caf::reacts_to<artifact_finished>, caf::reacts_to<work_failed>,
    caf::reacts_to<deadline_passed>>;

/// Serves the training state to joiners, fetches it, writes checkpoints.
using state_keeper_actor = caf::typed_actor<
    caf::reacts_to<state_keeper_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<fetch_state>, caf::reacts_to<snapshot_taken>,
    caf::reacts_to<state_changed>, caf::reacts_to<save_checkpoint_now>,
    caf::reacts_to<may_be_saved>, caf::reacts_to<checkpoint_saved>,
    caf::reacts_to<go_back>, caf::reacts_to<kept_state_read>,
    caf::reacts_to<report_heard>, caf::reacts_to<mean_applied>,
    caf::reacts_to<mean_relay>, caf::reacts_to<deadline_passed>>;

/// In front of the thread that holds the model: gradients and optimizer steps.
using compute_actor = caf::typed_actor<
    caf::reacts_to<compute_handles>, caf::reacts_to<compute_batch>,
    caf::reacts_to<batch_done>, caf::reacts_to<lend_gradient>,
    caf::reacts_to<drop_gradient>, caf::reacts_to<set_gradient_aside>,
    caf::reacts_to<take_gradient_back>, caf::reacts_to<apply_mean>,
    caf::reacts_to<adopt_state>, caf::reacts_to<add_gradient>,
    caf::reacts_to<take_snapshot>, caf::reacts_to<terms_known>,
    caf::reacts_to<state_changed>, caf::reacts_to<work_failed>>;

/// Decides whether this trainer averages itself or through a sponsor; gathers
/// gradients as a sponsor, hands them over as a contributor.
using cell_actor = caf::typed_actor<
    caf::reacts_to<cell_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<report_heard>, caf::reacts_to<run_looked_up>,
    caf::reacts_to<gather_contributions>, caf::reacts_to<contribution_taken>,
    caf::reacts_to<hand_over>, caf::reacts_to<contributor_pace>,
    caf::reacts_to<reach_known>, caf::reacts_to<averaged_without_us>,
    caf::reacts_to<deadline_passed>, caf::reacts_to<tick>>;

/// Decides what the peer does next: accumulate, lead, average, apply, catch up.
using conductor_actor = caf::typed_actor<
    caf::reacts_to<conductor_handles>, caf::reacts_to<peer_joined>,
    caf::reacts_to<peer_left>, caf::reacts_to<report_heard>,
    caf::reacts_to<state_changed>, caf::reacts_to<batch_done>,
    caf::reacts_to<gradient_lent>, caf::reacts_to<freeze_wanted>,
    caf::reacts_to<group_formed>, caf::reacts_to<group_dissolved>,
    caf::reacts_to<cell_standing>, caf::reacts_to<contribution_ready>,
    caf::reacts_to<gathering_over>, caf::reacts_to<contribution_wanted>,
    caf::reacts_to<round_over>, caf::reacts_to<state_fetched>,
    caf::reacts_to<state_fetch_failed>, caf::reacts_to<donor_distrusted>,
    caf::reacts_to<line_measured>, caf::reacts_to<checkpoint_saved>,
    caf::reacts_to<members_doubted>, caf::reacts_to<terms_known>,
    caf::reacts_to<roots_known>, caf::reacts_to<tick>>;

/// Forms groups: leads when told to, follows when invited.
using matchmaking_actor = caf::typed_actor<
    caf::reacts_to<matchmaking_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<matchmaking_facts>, caf::reacts_to<lead_group>,
    caf::reacts_to<gradient_frozen>, caf::reacts_to<round_over>,
    caf::reacts_to<deadline_passed>>;

/// Runs one round at a time: parts out, means in, and the agreement.
using averager_actor = caf::typed_actor<
    caf::reacts_to<averager_handles>, caf::reacts_to<letter>,
    caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
    caf::reacts_to<begin_round>, caf::reacts_to<gradient_lent>,
    caf::reacts_to<outcome_known>, caf::reacts_to<member_withdrew>,
    caf::reacts_to<means_placed>, caf::reacts_to<mean_ready>,
    caf::reacts_to<part_refused>, caf::reacts_to<parts_overdue>,
    caf::reacts_to<inquiry_due>, caf::reacts_to<out_of_touch>,
    caf::reacts_to<deadline_passed>>;

/// Serves the calls of experts that this peer hosts, as far as others see it
/// (`expert_host.hpp` has the rest).
using expert_host_door
    = caf::typed_actor<caf::reacts_to<expert_host_handles>,
                       caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
                       caf::reacts_to<peer_left>, caf::reacts_to<reachable_at>,
                       caf::reacts_to<leave_run>>;

/// Calls experts that other peers host, likewise (`expert_caller.hpp`).
using expert_caller_door
    = caf::typed_actor<caf::reacts_to<expert_caller_handles>,
                       caf::reacts_to<letter>, caf::reacts_to<peer_joined>,
                       caf::reacts_to<peer_left>,
                       caf::reacts_to<records_looked_up>>;

/// The root of a peer's tree: starts, restarts and ends the others.
using supervisor_actor = caf::typed_actor<
    caf::reacts_to<gateway_ready>, caf::reacts_to<charter_agreed>,
    caf::reacts_to<run_entered>, caf::reacts_to<terms_known>,
    caf::reacts_to<artifacts_here>, caf::reacts_to<round_begun>,
    caf::reacts_to<leave_run>, caf::reacts_to<hand_over_done>,
    caf::reacts_to<deadline_passed>>;

/// Sums the parts of one chunk; reports the mean once and ends.
using chunk_reducer_actor = caf::typed_actor<
    caf::reacts_to<part_arrived>, caf::reacts_to<part_given_up>,
    caf::reacts_to<part_unfit>, caf::reacts_to<parts_complete>,
    caf::reacts_to<deadline_passed>>;

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(look_up_records)
POTLUCK_LOCAL_MESSAGE(session_actor)
