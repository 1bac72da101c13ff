/// How a joiner gets the run's charter (settings, tokenizer) and the training
/// state (parameters, optimizer statistics, step).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

struct charter_request {
  std::uint64_t token = 0;
  /// Of which run, where the receiver is a bootstrap; empty: of its own.
  std::string run = {};
};
/// The charter's bytes are the body; empty when the answerer has none yet.
struct charter_reply {
  std::uint64_t token = 0;
};

/// Asks a donor to serve the sender from one version of the state on. The donor
/// answers with the version's manifest, at once or when it reaches `step`, and
/// then sends the manifest of every mean that it applies on top, until
/// `state_done`. The same request again only shows that the joiner still lives.
struct state_request {
  std::uint64_t token = 0;
  std::uint64_t step = 0;
  digest state;            ///< After `step`; empty for a step to come.
  bool means_only = false; ///< The joiner holds `state` and wants no other.
  /// Of means only the lists: the joiner gets the pieces elsewhere, and takes
  /// nobody's place.
  bool lists_only = false;
};

/// What the donor serves: a version of the state, or the mean that was applied
/// last to reach one. It keeps both while the joiner fetches them.
struct state_manifest {
  std::uint64_t token = 0;
  /// False: no such version here. `step` is where the donor is then.
  bool available = false;
  std::uint64_t step = 0;
  std::uint64_t history_samples = 0;
  digest state; ///< Of the whole state after `step`, as in progress reports.
  std::uint64_t bytes = 0;
  std::uint32_t piece_bytes = 0; ///< The last piece is shorter.
  /// Digests after the donor's latest steps, newest (of `step`) first, so that
  /// the joiner can tell whether its own history is a part of the donor's.
  std::vector<digest> recent;
  bool mean = false;          ///< Lists the mean, not the state.
  std::uint64_t samples = 0;  ///< Behind the mean.
  std::vector<digest> pieces; ///< Of each piece's bytes.
  /// When not available: a step whose version the donor keeps for others, or is
  /// about to; 0 for none.
  std::uint64_t offered = 0;
  /// Not 0: the donor serves as many joiners as it may; ask again then.
  std::uint32_t retry_ms = 0;
};

struct piece_request {
  digest state;
  std::uint32_t piece = 0;
  bool mean = false; ///< Of the mean that led to `state`.
  /// Bytes of pieces that have come from this donor since the first
  /// `state_request` of this token: what it sent beyond is in flight.
  std::uint64_t arrived = 0;
};

/// The bytes are the body; an empty body says that the donor has it no more.
struct state_piece {
  digest state;
  std::uint32_t piece = 0;
  bool mean = false;
};

/// The joiner needs no more.
struct state_done {};

/// Asks for a piece of an artifact (runtime/artifacts), or for the list of its
/// pieces, whose only piece is 0.
struct artifact_request {
  sha256_digest content; ///< Of the artifact, or of that list.
  std::uint32_t piece = 0;
  /// Bytes that have come from this donor since it was asked first: what it
  /// sent beyond is in flight.
  std::uint64_t arrived = 0;
  bool over = false; ///< The sender needs no more: there is no answer.
};

/// The bytes are the body; an empty body says that they are not here.
struct artifact_piece {
  sha256_digest content;
  std::uint32_t piece = 0;
  /// Not 0: the donor serves as many as it may; ask again then.
  std::uint32_t retry_ms = 0;
};

} // namespace potluck
