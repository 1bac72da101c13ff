/// A joiner's view of one download of the training state, piece by piece.
///
/// Pure bookkeeping: whoever owns it sends the requests, decides how long to
/// wait and which donor to ask. Pieces are written straight into the state's
/// vectors. Donors of one version are interchangeable: the bytes depend only on
/// what the digest covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/expected.hpp"
#include "messages/state.hpp"
#include "runtime/state/state_layout.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

class state_transfer {
public:
  enum class verdict {
    placed,       ///< Written; others are still missing.
    complete,     ///< Written, and it was the last one missing.
    repeated,     ///< This piece had been written before.
    wrong_piece,  ///< There is no piece of this number.
    wrong_length, ///< The bytes are not as many as the piece has.
  };

  /// Checks what the donor declares against `values`, the length that our
  /// model's layout implies, before anything is allocated.
  static expected<state_transfer> begin(state_manifest manifest,
                                        std::uint64_t values);

  const state_manifest& manifest() const {
    return manifest_;
  }
  std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(pieces_.size());
  }
  /// Pieces that have not arrived.
  std::uint32_t missing() const {
    return missing_;
  }
  bool complete() const {
    return missing_ == 0;
  }

  /// Pieces to ask for now, lowest first, so that at most `window` are on their
  /// way. They count as asked for from here on.
  std::vector<std::uint32_t> next_requests(std::size_t window);

  /// What was asked for and has not come will not come (a donor left, or was
  /// silent for too long): `next_requests` names it again.
  void abandon_requests();

  /// Writes a piece, or says why not. A refused piece changes nothing.
  verdict offer(std::uint32_t piece, const std::uint8_t* data,
                std::size_t size);

  /// Verifies the whole and hands it out; the transfer is spent afterwards,
  /// whatever the outcome. Fails with a sentence when it is not what the
  /// manifest declared. Throws std::logic_error unless `complete()`.
  expected<training_state> finish();

private:
  enum class piece_status : std::uint8_t { missing, requested, placed };

  state_transfer(state_manifest manifest, std::uint64_t values);

  state_manifest manifest_;
  state_header header_{};
  training_state state_;
  std::vector<piece_status> pieces_;
  std::uint32_t missing_ = 0;
  std::size_t requested_ = 0;
  std::size_t first_missing_ = 0; ///< No piece below it is `missing`.
};

} // namespace potluck
