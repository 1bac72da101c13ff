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

/// From the connection to its hello, before any was observed: long enough for a
/// satellite line's three round trips, short enough that idle sockets cannot
/// fill the table. Then from what handshakes took, of anybody, since nobody has
/// an id yet: no less than a lost packet's repetitions take, and no more than
/// what a table full of idle sockets may cost.
constexpr auto handshake_patience = 10s;
constexpr auto handshake_floor = 5s;
constexpr auto handshake_cap = 30s;
constexpr auto handshake_check = 1s;
/// Messages kept for a peer that is being dialled: a look-up asks few things.
constexpr std::size_t messages_waiting_for_a_dial = 64;
/// Received on one connection and held, beyond which it is not read: it lets
/// who reads sleep for 10 ms at 1 Gbit/s. What members send to one that has not
/// begun its round lies here, from each of them.
constexpr std::size_t unread_bytes = std::size_t{1} << 20;
/// It is read again at this share of that: above what its sender's parts may
/// keep while they wait for others' (runtime/averaging/value_pool.hpp), or two
/// that are not read could wait for each other.
constexpr double read_on_share = 0.75;
/// Between two heartbeats of two members, who wait for each other.
constexpr auto heartbeat_interval = 1s;
/// The same while one of two has not reported to the other: it looks something
/// up, or has come a moment ago.
constexpr auto acquaintance_heartbeat_interval = 5s;
/// The same between a contributor and a member, which may have hundreds.
constexpr auto cell_heartbeat_interval = 20s;
/// The first ones of members come faster, so that silence is judged by observed
/// round trips from the second second on.
constexpr auto first_heartbeat_interval = 200ms;
constexpr unsigned first_heartbeats = 4;
/// Heartbeats that a connection full of other things can do without in a row:
/// how long an answer takes is to be known all the same.
constexpr int spared_heartbeats = 4;
/// How long closing connections may take when leaving: leaves room for the
/// rest within the two seconds that Ctrl-C promises.
constexpr auto leave_patience = 500ms;

// ---- lines
// ----------------------------------------------------------------------

/// Between two looks at how much has passed on each connection, while anything
/// is waiting: short against a step, long against a thousand packets' noise.
constexpr auto line_interval = 100ms;
/// Of a connection within that time: more than heartbeats are. A full packet.
constexpr std::uint64_t telling_bytes = 1448;
/// The beginning of a transfer, which says little about the line, and the
/// least length of a sample; both are longer where round trips are.
constexpr auto line_warm_up = 100ms;
constexpr auto line_sample = 100ms;
/// A measured line is told to others when it differs by more than this from
/// what they know, and no more often than this.
constexpr double line_news = 0.1;
constexpr auto line_news_interval = 1s;
/// Pairs that carry more bytes per second (100 Mbit/s) are not told as slow
/// ones: there the computers are what is measured.
constexpr double slow_pair_most = 12.5e6;
/// Without anything to send for so long, a round's sending is over.
constexpr auto line_pause = 500ms;
/// So many in a row, in each of which several were sent to for at least this
/// time without the upload being reached: then it is no longer believed.
constexpr unsigned line_weak_uploads = 2;
constexpr auto line_transfer = 500ms;
/// Bytes per second that come without anybody sending much: heartbeats and
/// reports of a hundred peers.
constexpr double line_trickle = 32e3;
/// Transfers in a row that stay clearly below the download that was once seen,
/// after which it is no longer believed: others may have had little to send.
constexpr unsigned line_weak_periods = 5;
/// Below, heartbeats and reports alone would be late: 64 kbit/s.
constexpr double least_cap = 8000;

// ---- charter
// -------------------------------------------------------------------

constexpr auto registrar_interval = 100ms;
/// Between publishing that we are there and founding a run: another look-up
/// that starts after our record is stored must have ended as well.
constexpr auto founding_settle = 700ms;
/// For an answer to a charter request before it is sent once more, doubled
/// each time up to the cap. Nobody is suspected for it: each peer is asked once
/// in a life, so there is nothing to observe, and all are asked at once.
constexpr auto charter_patience = 5s;
constexpr auto charter_cap = 60s;

// ---- conducting
// ----------------------------------------------------------------

constexpr auto conductor_interval = 50ms;
/// Between two lines for a person's screen.
constexpr auto status_interval = 250ms;
/// ...and at least so long for each peer that it counts: a sponsor has
/// hundreds.
constexpr auto status_pause_a_peer = 4ms;
/// A peer in the run that we know of but are not connected to is waited for so
/// long before a group forms without it, while nobody's connecting was
/// observed; then as long as connecting takes. The floor is two dials by the
/// ledger; more than the cap nobody waits for hearsay.
constexpr auto connecting_patience = 3s;
constexpr auto connecting_floor = 1s;
constexpr auto connecting_cap = 15s;
/// Peers remembered as gone, so that their old records do not delay a group.
constexpr std::size_t gone_peers = 4096;
/// Floor and cap of the deadlines of a round, around what was observed. The
/// floor lets a loaded machine stall a moment; the cap is what a person waits.
constexpr auto round_floor = 2s;
constexpr auto round_cap = 120s;
/// Before any round was observed: several round trips of the slowest line and a
/// model's worth of parts. Doubled when a round ran into it.
constexpr auto first_round_patience = 15s;
/// A batch is cut so that it takes no longer: an invited peer answers when its
/// batch is done, and the others wait for that.
constexpr auto longest_batch = 500ms;
/// Of the first batch, whose duration nobody knows.
constexpr std::uint32_t first_batch = 2;
/// Longer is not told of computing a step.
constexpr auto longest_computing = 24h;
/// Batches of the slowest member that a leader waits for its answer: one under
/// way, and slack for a machine that has other things to do.
constexpr int patience_in_batches = 6;
/// But no longer than this: nobody may hold everybody up. A follower waits so
/// long for its leader's contract, since it cannot know how long the leader
/// waits for the slowest; that a leader is gone its session says much earlier.
constexpr auto answer_cap = 30s;
/// Once a member's answers were observed it is waited for by these, no less
/// than this: a batch under way, and one that a busy machine stretches.
constexpr auto answer_floor = 2 * longest_batch;
/// Extra patience of a follower behind its leader's, so that the leader speaks
/// first: a part of the round's patience, which grows with the line, and at
/// least this.
constexpr auto follower_grace = 1s;
constexpr int follower_share = 4;
/// After the last step: wait so long for lost trainers to come back, who may
/// have another history...
constexpr auto finish_linger = 10s;
/// ...and so long for connected ones to get a step further, serving them: on a
/// slow line whoever missed the last verdict needs its patience and a download.
constexpr auto laggard_linger = 2min;
/// Nobody is waited for longer than this after the last step.
constexpr auto laggard_patience = 15min;
/// After a download of state failed, before the next donor is asked; where
/// nothing of it is left, so many times as long as it took besides, so that
/// whoever promises states in vain costs a peer a third of its time at most.
constexpr auto fetch_backoff = 300ms;
constexpr int fetch_backoff_share = 2;

// ---- cells
// ----------------------------------------------------------------------

/// Between two looks at who averages and who contributes: choices by chance
/// settle slowly enough for news of them to spread.
constexpr auto cell_interval = 1s;
/// Before the first choice: the roster tells a new actor what it knows...
constexpr auto cell_beginning = 100ms;
/// ...and where others are there, its first look-up is waited for so long; as
/// any look-up is by the roster before it begins another.
constexpr auto look_up_patience = 3s;
/// The same while contributions are being gathered: their deadlines.
constexpr auto gathering_interval = 250ms;
/// Contributors asked at a time: a gradient's memory each. Of a small model
/// many more: as many gradients as fit, since each of them first ends a batch.
constexpr std::size_t contributors_at_once = 8;
constexpr std::uint64_t contribution_bytes_in_flight = 32 << 20;
/// Values of a part of a contribution: 64 KiB, of which a frame's own bytes are
/// a thousandth.
constexpr std::uint32_t least_contribution_part = 16384;
/// For a contribution, before any of its sender was observed; then from those.
/// A batch under way and a gradient over a household's uplink.
constexpr auto contribution_patience = 10s;
constexpr auto contribution_floor = 2s;
constexpr auto contribution_cap = 20s;
/// For all of them: a sponsor's leader waits `answer_cap` for it. Both, and
/// each contribution's, are longer by so many times what the gradients take on
/// their lines (`gathering_time`), which is at most this.
constexpr auto gathering_cap = 20s;
constexpr int gathering_share = 2;
constexpr auto longest_gathering = 5min;
/// A contributor that has handed over computes nothing more for the same step
/// in this time: usually the step is done by then.
constexpr auto contributor_rest = 10s;
/// A contributor's pauses are parts of a step (`contributor_pace`): between two
/// looks of its roster, conductor and cell, which news wake besides; the
/// longest batch, which its sponsor may have to wait for; and between two
/// reports to its sponsor, which guesses how it went on meanwhile.
constexpr int looks_a_step = 10;
constexpr auto shortest_look = 2s;
constexpr auto longest_look = 10s;
constexpr int contributors_batches_a_step = 12;
constexpr auto contributors_shortest_batch = 1s;
constexpr auto contributors_longest_batch = 6s;
/// A sponsor guesses how a contributor went on for so many pauses between two
/// reports: one is sent at the next look behind the pause, and takes its way.
constexpr int reports_missed = 2;
/// A contributor's batch is at most such a part of the time until it expects to
/// be asked for its gradient, but no shorter than a member's.
constexpr int batches_until_asked = 4;
constexpr int reports_a_step = 3;
constexpr auto shortest_report_pause = 4s;
constexpr auto longest_report_pause = 18s;
/// Contributors that pass a mean on to each other, one after the other, at
/// most.
constexpr std::size_t chain_length = 32;
/// How much later each of them has it than the one before: a piece's time on a
/// thin uplink, and the way. What a shorter chain saves is held against what
/// one chain more costs their sponsor.
constexpr auto chain_hop = 100ms;
/// They do where their sponsor would send a mean to two of them for longer than
/// this: several times what a round trip between them takes.
constexpr auto chained_mean = 500ms;
// ---- averaging
// ------------------------------------------------------------------

/// Letters for rounds that this peer has not started yet: members start within
/// a moment of each other, and one gradient's worth may be under way.
constexpr std::size_t early_letters = 8192;
/// Under a robust rule a part so many times longer than the median one is
/// refused. Honest members differ by the number of their samples and by what
/// they saw of a rare parameter: by thousands at most.
constexpr double outlier_norm = 1e6;
/// From another member's report of the completed step to asking it for the
/// verdict, which usually is on its way; then from how far verdicts came behind
/// that member's reports. A question too many costs a hundred bytes, one too
/// late an idle peer: hence the small floor and cap.
constexpr auto verdict_grace = 700ms;
constexpr auto verdict_floor = 300ms;
constexpr auto verdict_cap = 5s;
/// The share of a round's traffic that checking means may cost on average. One
/// check moves one chunk of every member to one of them: of a gradient in M
/// chunks, 1 / (2 M) of what a round moves.
constexpr double audit_share = 0.02;
/// A member that checks a chunk holds it once for each member under a robust
/// rule; larger ones are not checked.
constexpr std::uint64_t audit_bytes = 256u << 20;
/// A leader may set a round's patience to so many times what a member itself
/// has learnt; a member that has seen fewer slow rounds follows its own.
constexpr int leaders_patience = 2;
/// Who is to lead, and has not for so many times the patience of a round, is
/// passed over: it may be waiting for somebody whom others avoid.
constexpr int leaders_turn = 2;
/// For all members' parts, and for what all of them found when a round was
/// aborted: a chunk of 1 MB from each of 16 needs 5 s at 27 Mbit/s.
constexpr auto audit_patience = 10s;
constexpr auto findings_patience = 2s;
/// Chunks that one member may ask our part of in a round, its own not counted:
/// one that it checks, others because somebody challenged a mean.
constexpr std::size_t audited_chunks = 4;
/// Who is doubted again is left out twice as long, up to this many times.
constexpr unsigned most_doublings = 6;
/// Groups remembered that this peer declined or was released from: several
/// leaders may try at once, and others' letters follow within a round trip.
constexpr std::size_t groups_left = 16;

// ---- state
// ----------------------------------------------------------------------

/// A longer history that one trainer reports for every so many that hold ours,
/// or fewer, may be a liar's, or that of a peer that trained alone: it is not
/// followed for a while. In a run that is well everybody soon has it.
constexpr std::size_t few_of = 4;
constexpr auto minority_patience = 120s;
/// Rounds in a row in which a connected member kept silent, after which groups
/// form without it for as long: one may be a machine that stood still.
constexpr unsigned silent_rounds = 2;
/// A member that has lost its lines to all others of its round waits so long
/// for them, before it goes on alone: more likely its own line broke, and is
/// dialled again. From the end of a silence to the handshake on a slow line.
constexpr auto out_of_touch_patience = 6s;
/// A leader waits for a joiner that is `entering_steps` behind or less, as long
/// as it would for a member of a round. Steps that pass while a mean is under
/// way keep it behind for ever otherwise: 16 are a third of a second's round
/// trip in a run with 50 steps a second.
constexpr std::uint64_t entering_steps = 16;
/// Who did not come in that time is not waited for again so soon,
constexpr auto entering_again = 60s;
/// and who did, only after so many times as long: one peer that comes and goes
/// costs the others a tenth of their time at most.
constexpr int entering_share = 9;

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
constexpr std::size_t scenario_peers = 16384;
constexpr std::size_t scenario_groups = 256;
constexpr std::size_t scenario_rules = 1024;
/// Of every duration in a scenario: as virtual nanoseconds they add up to far
/// less than what 64 bits hold.
constexpr auto scenario_longest = std::chrono::hours{24 * 366};
/// Between two events of one rule or one peer's churn: an interval that chance
/// draws as zero must not stop time.
constexpr auto scenario_shortest = 10ms;
/// Hosts of an emulated network: its addresses, and what one machine bears.
constexpr std::size_t lab_hosts = 250;
/// Lines that a fault plan keeps of its history; the rest is counted.
constexpr std::size_t fault_history = 10'000;

} // namespace potluck::limits
