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
};
/// The charter's bytes are the body; empty when the answerer has none yet.
struct charter_reply {
  std::uint64_t token = 0;
};

struct state_request {
  std::uint64_t token = 0;
};

/// What the donor serves; it keeps this version while the joiner fetches it.
struct state_manifest {
  std::uint64_t token = 0;
  bool available = false;
  std::uint64_t step = 0;
  std::uint64_t history_samples = 0;
  digest state; ///< Of the whole state, as in progress reports.
  std::uint64_t bytes = 0;
  std::uint32_t piece_bytes = 0; ///< The last piece is shorter.
  /// Digests after the donor's latest steps, newest (of `step`) first, so that
  /// the joiner can tell whether its own history is a part of the donor's.
  std::vector<digest> recent;
};

struct piece_request {
  digest state;
  std::uint32_t piece = 0;
};

/// The bytes are the body; an empty body says that the version is gone.
struct state_piece {
  digest state;
  std::uint32_t piece = 0;
};

} // namespace potluck
