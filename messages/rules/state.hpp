/// What the frames MUST be by which a joiner gets charter and state.
#pragma once

#include "messages/limits.hpp"
#include "messages/rules/rules.hpp"
#include "messages/state.hpp"

namespace potluck::checks {

template <class T>
void piece(rules& must, const T& x) {
  must.hold(!x.state.empty(), "the state's digest is missing");
  must.hold(x.piece < max_pieces, "the piece's index is too large");
}

inline void check(rules& must, const charter_request& x) {
  must.text(x.run, max_run_bytes, "the run's name");
}

inline void check(rules& must, const state_request& x) {
  must.hold(x.step <= max_step, "the step is too large");
  must.hold(!x.means_only || !x.state.empty(), "the state's digest is missing");
}

inline void check(rules& must, const state_manifest& x) {
  must.hold(x.step <= max_step, "the step is too large");
  must.hold(x.history_samples <= max_history_samples,
            "the history is too long");
  must.hold(x.bytes <= max_state_bytes, "the state is too large");
  must.hold(x.piece_bytes <= max_body_bytes, "a piece does not fit a body");
  must.hold(x.recent.size() <= max_recent_digests,
            "there are too many digests");
  must.hold(x.pieces.size() <= max_pieces, "there are too many pieces");
  must.hold(x.samples <= max_group_samples, "there are too many samples");
  must.hold(x.offered <= max_step, "the step is too large");
  must.hold(x.retry_ms <= max_patience_ms, "the time to ask again is too long");
  if (!x.available)
    return;
  must.hold(!x.state.empty(), "the state's digest is missing");
  must.hold(x.bytes > 0, "the state has no bytes");
  must.hold(x.piece_bytes > 0, "a piece has no bytes");
  must.hold(x.bytes <= x.piece_bytes * max_pieces, "there are too many pieces");
  must.hold(x.piece_bytes == 0
                || x.pieces.size()
                       == (x.bytes + x.piece_bytes - 1) / x.piece_bytes,
            "not every piece has its digest");
  must.hold(!x.mean || (x.samples > 0 && x.bytes % 4 == 0),
            "the mean has no samples or no whole values");
  must.hold(x.offered == 0 && x.retry_ms == 0, "what is there is put off");
}

inline void check(rules& must, const piece_request& x) {
  piece(must, x);
}

inline void check(rules& must, const state_piece& x) {
  piece(must, x);
}

inline void check(rules& must, const artifact_request& x) {
  must.hold(!x.content.empty(), "the artifact's SHA-256 is missing");
  must.hold(x.piece < max_pieces, "the piece's index is too large");
}

inline void check(rules& must, const artifact_piece& x) {
  must.hold(!x.content.empty(), "the artifact's SHA-256 is missing");
  must.hold(x.piece < max_pieces, "the piece's index is too large");
  must.hold(x.retry_ms <= max_patience_ms, "the time to ask again is too long");
}

} // namespace potluck::checks
