/// Every message between peers as one variant, and the frame that carries it.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/cells.hpp"
#include "messages/experts.hpp"
#include "messages/handshake.hpp"
#include "messages/history.hpp"
#include "messages/lines.hpp"
#include "messages/matchmaking.hpp"
#include "messages/organiser.hpp"
#include "messages/progress.hpp"
#include "messages/routing.hpp"
#include "messages/state.hpp"

namespace potluck {

/// All that peers say to each other.
using any_message = std::variant<
    hello, refusal, goodbye, heartbeat, heartbeat_reply, routing_ping,
    routing_pong, find_nodes, nodes_found, store_records, records_stored,
    find_records, records_found, progress_report, group_invite, group_answer,
    group_start, group_cancel, chunk_part, chunk_mean, mean_request,
    round_prepared, round_settle, round_standing, round_verdict,
    charter_request, charter_reply, state_request, state_manifest,
    piece_request, state_piece, state_done, round_heal, contribution_request,
    contribution_part, contribution_answer, round_findings, part_request,
    mean_challenge, expert_request, expert_answer, replica_offer, replica_reply,
    replica_chunk, line_probe, reach_request, reach_answer, part_digests,
    reach_errand, reach_proof, circuit_open, circuit_data, circuit_credit,
    circuit_close, hole_connect, hole_sync, line_switch, part_projections,
    sum_dispute, sum_account, amendments_request, amendments_reply,
    admission_request, admission_reply, admission_shown, history_request,
    history_reply, artifact_request, artifact_piece>;

/// One of them. A class of its own, so that the compiler makes what copies,
/// moves and destroys so many alternatives once, in message.cpp, and not in
/// each of the hundred files that hold a message.
class message : public any_message {
public:
  using any_message::any_message;
  message();
  message(const message&);
  message(message&&) noexcept;
  message& operator=(const message&);
  message& operator=(message&&) noexcept;
  ~message();
};

/// Bytes that somebody else owns, kept alive by `owner` while they are in use.
struct shared_bytes {
  std::shared_ptr<const void> owner;
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  /// Of all of them, where somebody of this process has made it; else empty.
  digest sum = {};
};

/// Looks at the bytes only when their sum is not known.
inline digest digest_of(const shared_bytes& x) {
  return x.sum.empty() ? digest_of(x.data, x.size) : x.sum;
}

} // namespace potluck
