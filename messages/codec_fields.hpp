/// The fields of every message in the order of its table in the schema: the one
/// list by which the codec writes and reads it. Knows no FlatBuffers; what a
/// field is on the wire follows from the schema.
///
/// A field is always written, whatever it holds. `maybe` marks those that are
/// absent when they are empty.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "messages/message.hpp"

namespace potluck {

/// Absent on the wire when empty.
template <class Field>
struct maybe_field {
  Field value;

  bool empty() const {
    if constexpr (std::is_same_v<Field, contact&>)
      return value.id.empty();
    else if constexpr (std::is_same_v<Field, address&>)
      return value.host.empty();
    else
      return value.empty();
  }
};

/// For people: written as plain text of at most `max_sentence_bytes`.
struct sentence_field {
  std::string& text;

  bool empty() const {
    return text.empty();
  }
};

/// One member of each row, as a vector of its own. Of two columns of the same
/// rows the first one sets their number; where the other is not as long, the
/// check refuses what is put in the place of all rows.
template <class Row, class Number>
struct column_field {
  std::vector<Row>& rows;
  Number Row::*member;
  bool first;

  bool empty() const {
    return rows.empty();
  }
};

template <class Field>
maybe_field<Field> maybe(Field&& x) {
  return {std::forward<Field>(x)};
}

inline sentence_field sentence(std::string& x) {
  return {x};
}

template <class Row, class Number>
column_field<Row, Number> first_column(std::vector<Row>& rows,
                                       Number Row::*member) {
  return {rows, member, true};
}

template <class Row, class Number>
column_field<Row, Number> next_column(std::vector<Row>& rows,
                                      Number Row::*member) {
  return {rows, member, false};
}

/// Fields by reference, their marks by value.
template <class... Fields>
std::tuple<Fields...> in_order(Fields&&... xs) {
  return {std::forward<Fields>(xs)...};
}

/// Of messages that hold a token alone, or nothing.
template <class T>
auto fields(T& x) {
  if constexpr (std::is_empty_v<T>)
    return in_order();
  else {
    static_assert(sizeof(T) == sizeof(x.token), "a field is forgotten");
    return in_order(x.token);
  }
}

// ---- pieces of messages -----------------------------------------------------

inline auto fields(address& x) {
  return in_order(maybe(x.host), x.port);
}
inline auto fields(contact& x) {
  return in_order(x.id, x.where);
}
inline auto fields(slow_pair& x) {
  return in_order(x.to, x.bytes_per_second);
}
inline auto fields(setting& x) {
  return in_order(x.name, maybe(x.value));
}
inline auto fields(dht_record& x) {
  return in_order(x.key, maybe(x.value), x.lives_ms, x.kind, x.seal.signer,
                  x.seal.number, x.seal.life_ms, x.seal.proof);
}
inline auto fields(group_member& x) {
  return in_order(x.who.id, maybe(x.who.where.host), x.who.where.port, x.role,
                  x.samples, x.loss_sum, x.upload_bytes_per_second,
                  x.download_bytes_per_second, maybe(x.slow_pairs),
                  maybe(x.relayed));
}
inline auto fields(group_contract& x) {
  return in_order(x.group, x.step, x.gradient_values, x.chunk_values,
                  x.patience_ms, x.members, x.plan, x.least_samples,
                  x.computing_ms);
}

// ---- handshake --------------------------------------------------------------

inline auto fields(hello& x) {
  return in_order(x.version, x.id, x.role, maybe(x.run), x.listen_port,
                  maybe(x.charter), x.settings, maybe(x.seen_host), x.seen_port,
                  x.is_hub, x.clock_ms, maybe(x.admission));
}
inline auto fields(refusal& x) {
  return in_order(sentence(x.sentence));
}
inline auto fields(goodbye& x) {
  return in_order(maybe(sentence(x.reason)));
}

// ---- lines ------------------------------------------------------------------

inline auto fields(reach_request& x) {
  return in_order(x.port, x.nonce, x.elsewhere);
}
inline auto fields(reach_answer& x) {
  return in_order(x.reached, x.nonce);
}
inline auto fields(reach_errand& x) {
  return in_order(x.nonce, x.who);
}
inline auto fields(reach_proof& x) {
  return in_order(x.nonce);
}
inline auto fields(circuit_open& x) {
  return in_order(x.circuit, x.peer, maybe(x.host), x.answer);
}
inline auto fields(circuit_data& x) {
  return in_order(x.circuit, x.opened_here);
}
inline auto fields(circuit_credit& x) {
  return in_order(x.circuit, x.opened_here, x.bytes);
}
inline auto fields(circuit_close& x) {
  return in_order(x.circuit, x.opened_here, maybe(sentence(x.reason)));
}
inline auto fields(hole_connect& x) {
  return in_order(x.token, x.answer, maybe(x.seen), maybe(x.local));
}

// ---- routing ----------------------------------------------------------------

inline auto fields(find_nodes& x) {
  return in_order(x.token, x.target, x.known_nodes);
}
inline auto fields(nodes_found& x) {
  return in_order(x.token, x.nodes);
}
inline auto fields(store_records& x) {
  return in_order(x.token, x.records);
}
inline auto fields(records_stored& x) {
  return in_order(x.token, x.accepted);
}
inline auto fields(find_records& x) {
  return in_order(x.token, x.key, x.known_nodes, x.known_records, x.most);
}
inline auto fields(records_found& x) {
  return in_order(x.token, x.records, x.nodes, x.stored);
}

// ---- progress ---------------------------------------------------------------

inline auto fields(progress_report& x) {
  return in_order(
      x.id, x.where, x.role, x.phase, maybe(x.charter), x.step,
      x.history_samples, maybe(x.state), x.samples, x.samples_per_second,
      x.upload_bytes_per_second, x.download_bytes_per_second, x.loss,
      x.contributes, maybe(x.sponsor), x.contributors, x.members,
      maybe(x.slow_pairs), x.reach, maybe(x.hubs), maybe(x.step_proof.signer),
      maybe(x.step_proof.proof), maybe(x.also));
}

// ---- history ----------------------------------------------------------------

inline auto fields(step_maker& x) {
  return in_order(x.id, x.samples, x.by.signer, x.by.proof);
}
inline auto fields(signed_step& x) {
  return in_order(x.charter, x.step, x.history_samples, x.samples, x.before,
                  x.after, x.makers);
}
inline auto fields(history_request& x) {
  return in_order(x.token, maybe(x.run));
}
inline auto fields(history_reply& x) {
  return in_order(x.token, maybe(x.run), x.steps);
}

// ---- matchmaking ------------------------------------------------------------

inline auto fields(group_invite& x) {
  return in_order(x.group, x.step, x.state);
}
inline auto fields(group_answer& x) {
  return in_order(x.group, x.accepted, maybe(sentence(x.reason)), x.samples,
                  x.loss_sum, x.upload_bytes_per_second,
                  x.download_bytes_per_second, maybe(x.avoid),
                  maybe(x.slow_pairs), maybe(x.relayed));
}
inline auto fields(group_start& x) {
  return in_order(x.contract);
}
inline auto fields(group_cancel& x) {
  return in_order(x.group, maybe(sentence(x.reason)));
}

// ---- averaging --------------------------------------------------------------

inline auto fields(chunk_part& x) {
  return in_order(x.group, x.chunk, x.samples, x.packing);
}
inline auto fields(chunk_mean& x) {
  return in_order(x.group, x.chunk, x.samples, x.packing, x.version,
                  maybe(x.left_out), maybe(x.seal));
}
inline auto fields(mean_request& x) {
  return in_order(x.group, x.chunk, x.version);
}
inline auto fields(round_prepared& x) {
  return in_order(x.group, x.mean, x.epoch, x.least_samples, x.most_samples);
}
inline auto fields(round_settle& x) {
  return in_order(x.group, x.epoch);
}
inline auto fields(round_standing& x) {
  return in_order(
      x.group, x.epoch, x.standing, maybe(x.mean), x.least_samples,
      x.most_samples, maybe(first_column(x.chunks, &chunk_standing::version)),
      maybe(next_column(x.chunks, &chunk_standing::samples)), x.ruled);
}
inline auto fields(round_verdict& x) {
  return in_order(x.group, x.epoch, x.commit, maybe(x.mean), maybe(x.holder),
                  x.least_samples, x.most_samples);
}
inline auto fields(round_heal& x) {
  return in_order(x.group, x.epoch, x.alive,
                  first_column(x.chunks, &chunk_source::member),
                  next_column(x.chunks, &chunk_source::version));
}
inline auto fields(round_findings& x) {
  return in_order(x.group, x.owners);
}
inline auto fields(part_request& x) {
  return in_order(x.group, x.chunk);
}
inline auto fields(part_digests& x) {
  return in_order(x.group, x.chunk, x.parts);
}
inline auto fields(mean_challenge& x) {
  return in_order(x.group, x.chunk);
}
inline auto fields(part_projections& x) {
  return in_order(x.group, x.drawn_by, x.seed,
                  first_column(x.parts, &projection::value),
                  next_column(x.parts, &projection::norm));
}
inline auto fields(sum_dispute& x) {
  return in_order(x.group, x.chunk, x.seed);
}
inline auto fields(sum_account& x) {
  return in_order(x.group, x.chunk, x.seed,
                  first_column(x.parts, &projection::value),
                  next_column(x.parts, &projection::norm), maybe(x.unshown));
}
inline auto fields(amendments_request& x) {
  return in_order(x.token, maybe(x.run), x.after);
}
inline auto fields(signed_amendment& x) {
  return in_order(x.bytes);
}
inline auto fields(amendments_reply& x) {
  return in_order(x.token, maybe(x.run), x.amendments);
}
inline auto fields(admission_request& x) {
  return in_order(x.token, maybe(x.run), maybe(x.claim));
}
inline auto fields(admission_reply& x) {
  return in_order(x.token, maybe(x.admission), sentence(x.sentence));
}
inline auto fields(admission_shown& x) {
  return in_order(x.admission);
}

// ---- cells ------------------------------------------------------------------

inline auto fields(contribution_request& x) {
  return in_order(x.number, x.step, x.state, x.packing, maybe(x.nearer),
                  maybe(x.farther), maybe(x.better));
}
inline auto fields(contribution_part& x) {
  return in_order(x.number, x.chunk, x.samples, x.loss_sum, x.packing);
}
inline auto fields(contribution_answer& x) {
  return in_order(x.number, x.accepted, maybe(sentence(x.reason)));
}

// ---- state ------------------------------------------------------------------

inline auto fields(charter_request& x) {
  return in_order(x.token, maybe(x.run));
}
inline auto fields(state_request& x) {
  return in_order(x.token, x.step, maybe(x.state), x.means_only, x.lists_only);
}
inline auto fields(state_manifest& x) {
  return in_order(x.token, x.available, x.step, x.history_samples,
                  maybe(x.state), x.bytes, x.piece_bytes, maybe(x.recent),
                  x.mean, x.samples, maybe(x.pieces), x.offered, x.retry_ms);
}
inline auto fields(piece_request& x) {
  return in_order(x.state, x.piece, x.mean, x.arrived);
}
inline auto fields(state_piece& x) {
  return in_order(x.state, x.piece, x.mean);
}
inline auto fields(artifact_request& x) {
  return in_order(x.content, x.piece, x.arrived, x.over);
}
inline auto fields(artifact_piece& x) {
  return in_order(x.content, x.piece, x.retry_ms);
}

// ---- experts ----------------------------------------------------------------

inline auto fields(expert_request& x) {
  return in_order(x.number, x.uid, x.pass, x.samples, x.values, x.patience_ms,
                  x.packing, x.gradients);
}
inline auto fields(expert_answer& x) {
  return in_order(x.number, x.outcome, maybe(sentence(x.sentence)), x.samples,
                  x.values, x.version, x.packing);
}
inline auto fields(expert_announcement& x) {
  return in_order(x.host, x.inputs, x.outputs, x.version, x.term);
}
inline auto fields(expert_host_notice& x) {
  return in_order(x.host, x.kind, x.spare);
}
inline auto fields(replica_offer& x) {
  return in_order(x.uid, x.term, x.version, x.bytes, x.sum, x.kind, x.owner,
                  x.hand_over);
}
inline auto fields(replica_reply& x) {
  return in_order(x.uid, x.term, x.version, x.standing, x.offset, x.length);
}
inline auto fields(replica_chunk& x) {
  return in_order(x.uid, x.term, x.version, x.offset);
}

} // namespace potluck
