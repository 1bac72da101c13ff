/// Every limit and fixed duration, with its unit and its reason.
///
/// What a user may change is an option of the command line; what stands here
/// keeps a peer's memory bounded and its conversations finite.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace potluck::limits {

using namespace std::chrono_literals;

// ---- connections
// -------------------------------------------------------------

/// Open connections; a full mesh of the largest group fits twice (both sides
/// may dial at once).
constexpr std::size_t connections = 512;
/// From the connection to its hello. Long enough for a satellite line's three
/// round trips, short enough that idle sockets cannot fill the table.
constexpr auto handshake_patience = 10s;
constexpr auto handshake_check = 1s;
/// Messages kept for a peer that is being dialled: a look-up asks few things.
constexpr std::size_t messages_waiting_for_a_dial = 64;
/// Between two heartbeats on a session.
constexpr auto heartbeat_interval = 1s;
/// The first ones come faster, so that silence is judged by observed round
/// trips from the second second on.
constexpr auto first_heartbeat_interval = 200ms;
constexpr unsigned first_heartbeats = 8;
/// How long closing connections may take when leaving: leaves room for the
/// rest within the two seconds that Ctrl-C promises.
constexpr auto leave_patience = 500ms;

// ---- who is there
// --------------------------------------------------------------

/// Between two looks at who should be dialled or told something.
constexpr auto roster_interval = 100ms;
/// Between two publications of our report in the DHT, and look-ups of others'.
constexpr auto publish_interval = 2s;
/// The same before the run's charter is known: founding waits for look-ups.
constexpr auto joining_publish_interval = 300ms;
/// Life of a report in the DHT: survives a few lost publications.
constexpr auto report_life = 15s;
/// A direct report older than this says nothing about now.
constexpr auto report_max_age = 15s;
/// Dials begun at one look.
constexpr std::size_t dials_at_once = 16;
/// How long the addresses given by the user are tried before the peer gives
/// up: covers a bootstrap that is started a moment later.
constexpr auto first_contact_patience = 10s;

// ---- routing
// -------------------------------------------------------------------

constexpr auto routing_interval = 500ms;
/// For an answer to one routing request.
constexpr auto routing_patience = 3s;
/// Look-ups in flight; more wait their turn.
constexpr std::size_t lookups_at_once = 64;

// ---- charter
// -------------------------------------------------------------------

constexpr auto registrar_interval = 100ms;
/// Between publishing that we are there and founding a run: another look-up
/// that starts after our record is stored must have ended as well.
constexpr auto founding_settle = 700ms;
/// For an answer to a charter request.
constexpr auto charter_patience = 5s;

// ---- conducting
// ----------------------------------------------------------------

constexpr auto conductor_interval = 50ms;
/// A peer in the run that we know of but are not connected to is waited for so
/// long before a group forms without it.
constexpr auto connecting_patience = 3s;
/// Peers remembered as gone, so that their old records do not delay a group.
constexpr std::size_t gone_peers = 4096;
/// Floor and cap of the deadlines of a round, around what was observed. The
/// floor lets a loaded machine stall a moment; the cap is what a person waits.
constexpr auto round_floor = 2s;
constexpr auto round_cap = 120s;
/// Before any round was observed.
constexpr auto first_round_patience = 15s;
/// A batch is cut so that it takes no longer: an invited peer answers when its
/// batch is done, and the others wait for that.
constexpr auto longest_batch = 500ms;
/// Of the first batch, whose duration nobody knows.
constexpr std::uint32_t first_batch = 2;
/// Batches of the slowest member that a leader waits for its answer: one under
/// way, and slack for a machine that has other things to do.
constexpr int patience_in_batches = 6;
/// But no longer than this: nobody may hold everybody up.
constexpr auto answer_cap = 30s;
/// Extra patience of a follower behind its leader's, so that the leader speaks
/// first.
constexpr auto follower_grace = 1s;
/// After the last step: wait so long for others to finish, serving them.
constexpr auto finish_linger = 10s;
/// After a download of state failed, before the next donor is asked.
constexpr auto fetch_backoff = 300ms;

// ---- averaging
// ------------------------------------------------------------------

/// Letters for rounds that this peer has not started yet: members start within
/// a moment of each other, and one gradient's worth may be under way.
constexpr std::size_t early_letters = 8192;
/// From another member's report of the completed step to asking it for the
/// verdict, which usually is on its way: a few round trips of a slow line.
constexpr auto verdict_grace = 700ms;
/// Groups remembered that this peer declined or was released from: several
/// leaders may try at once, and others' letters follow within a round trip.
constexpr std::size_t groups_left = 16;

// ---- state
// ----------------------------------------------------------------------

/// Bytes a piece of training state.
constexpr std::uint32_t piece_bytes = 1u << 20;
/// Pieces asked for at once.
constexpr std::size_t pieces_in_flight = 8;
/// For any piece to arrive.
constexpr auto piece_patience = 10s;
/// Versions that a donor keeps for joiners that are still fetching them.
constexpr std::size_t snapshots_kept = 2;

// ---- supervision
// ------------------------------------------------------------------

/// Restarts within the window before a peer gives up: a fault that comes back
/// at once is not mended by another restart.
constexpr std::size_t restarts = 8;
constexpr auto restart_window = 60s;
/// For an actor to end when asked, before it is killed.
constexpr auto shutdown_grace = 500ms;

// ---- scenarios
// ------------------------------------------------------------------

/// Bytes of a scenario's file: a person writes a few thousand.
constexpr std::size_t scenario_bytes = 1u << 20;
/// Peers of a scenario, those that come later included: what one machine's
/// memory simulates.
constexpr std::size_t scenario_peers = 4096;
constexpr std::size_t scenario_groups = 256;
constexpr std::size_t scenario_rules = 1024;
/// Of every duration in a scenario: as virtual nanoseconds they add up to far
/// less than what 64 bits hold.
constexpr auto scenario_longest = std::chrono::hours{24 * 366};
/// Between two events of one rule or one peer's churn: an interval that chance
/// draws as zero must not stop time.
constexpr auto scenario_shortest = 10ms;
/// Lines that a fault plan keeps of its history; the rest is counted.
constexpr std::size_t fault_history = 10'000;

} // namespace potluck::limits
