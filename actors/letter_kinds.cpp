#include "actors/letter_kinds.hpp"

namespace potluck {

letter_reader reader_of(const message& x, const session_handles& w) {
  if (is_one_of<chunk_part, chunk_mean, mean_request, round_prepared,
                round_settle, round_standing, round_verdict, round_heal,
                round_findings, part_request, part_digests, mean_challenge,
                part_projections, sum_dispute, sum_account>(x))
    return w.averager;
  if (is_one_of<group_invite, group_answer, group_start, group_cancel>(x))
    return w.matchmaking;
  if (is_one_of<progress_report, reach_request, reach_errand, reach_answer>(x))
    return w.roster;
  if (is_one_of<routing_ping, routing_pong, find_nodes, nodes_found,
                store_records, records_stored, find_records, records_found>(x))
    return w.router;
  if (is_one_of<contribution_request, contribution_part, contribution_answer>(
          x))
    return w.cell;
  if (is_one_of<charter_request, charter_reply>(x))
    return w.registrar;
  if (is_one_of<state_request, state_manifest, piece_request, state_piece,
                state_done>(x))
    return w.state_keeper;
  if (is_one_of<expert_request, replica_offer, replica_reply, replica_chunk>(x))
    return w.expert_host;
  if (is_one_of<expert_answer>(x))
    return w.expert_caller;
  if (is_one_of<artifact_request, artifact_piece>(x))
    return w.artifact_keeper;
  if (is_one_of<hole_connect, hole_sync>(x))
    return w.hole_maker;
  if (is_one_of<admission_request, admission_reply>(x))
    return w.admission;
  if (is_one_of<amendments_request, amendments_reply>(x))
    return w.amendment_keeper;
  if (is_one_of<history_request, history_reply>(x))
    return w.history_keeper;
  return {};
}

bool is_for_everybody(const message& x) {
  return is_one_of<refusal, goodbye, heartbeat, heartbeat_reply, line_switch,
                   routing_ping, routing_pong, find_nodes, nodes_found,
                   store_records, records_stored, find_records, records_found,
                   charter_request, charter_reply, reach_request, reach_errand,
                   reach_answer, hole_connect, hole_sync, amendments_request,
                   amendments_reply, admission_request, admission_reply,
                   admission_shown, history_request, history_reply>(x);
}

bool is_of_a_gradient(const message& x) {
  return is_one_of<chunk_part, chunk_mean, contribution_part>(x);
}

bool is_of_an_expert(const message& x) {
  return is_one_of<expert_request, expert_answer, replica_offer, replica_reply,
                   replica_chunk>(x);
}

} // namespace potluck
