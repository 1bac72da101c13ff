/// A joiner's view of one download of the training state, piece by piece.
///
/// Every piece is verified when it comes, the whole at the end. What to ask of
/// whom is `download_plan`'s. Pieces are written straight into the state's
/// vectors. Donors of one version are interchangeable: the bytes depend only on
/// what the digest covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/expected.hpp"
#include "messages/state.hpp"
#include "runtime/safeguards.hpp"
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
    wrong_bytes,  ///< They are not what the manifest lists.
  };

  /// Checks what the donor declares against `values`, the length that our
  /// model's layout implies, and the moments that the run's optimizer keeps,
  /// before anything is allocated.
  static expected<state_transfer> begin(state_manifest manifest,
                                        std::uint64_t values,
                                        unsigned moments = most_moments,
                                        safeguard_set guards = {});

  const state_manifest& manifest() const {
    return manifest_;
  }
  std::uint32_t pieces() const {
    return static_cast<std::uint32_t>(placed_.size());
  }
  /// Pieces that have not arrived.
  std::uint32_t missing() const {
    return missing_;
  }
  bool complete() const {
    return missing_ == 0;
  }

  /// Writes a piece, or says why not. A refused piece changes nothing.
  verdict offer(std::uint32_t piece, const std::uint8_t* data,
                std::size_t size);

  /// Verifies the whole and hands it out; the transfer is spent afterwards,
  /// whatever the outcome. Fails with a sentence when it is not what the
  /// manifest declared. Throws std::logic_error unless `complete()`.
  expected<training_state> finish();

private:
  state_transfer(state_manifest manifest, std::uint64_t values,
                 unsigned moments, safeguard_set guards);

  state_manifest manifest_;
  state_header header_{};
  training_state state_;
  std::vector<bool> placed_;
  std::uint32_t missing_ = 0;
  safeguard_set guards_;
};

} // namespace potluck
