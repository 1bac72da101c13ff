#include "runtime/state/state_transfer.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "messages/framing.hpp"
#include "runtime/state/pieces.hpp"

namespace potluck {

state_transfer::state_transfer(state_manifest manifest, std::uint64_t values,
                               unsigned moments, safeguard_set guards)
    : manifest_(std::move(manifest)), guards_(guards) {
  auto count
      = (manifest_.bytes + manifest_.piece_bytes - 1) / manifest_.piece_bytes;
  placed_.assign(count, false);
  missing_ = static_cast<std::uint32_t>(count);
  resize(state_, values, moments);
}

expected<state_transfer> state_transfer::begin(state_manifest manifest,
                                               std::uint64_t values,
                                               unsigned moments,
                                               safeguard_set guards) {
  if (!manifest.available)
    return failure{"the donor has no training state to give"};
  if (values > max_state_values
      || manifest.bytes != state_bytes(values, moments))
    return failure{"the donor offers a training state of "
                   + std::to_string(manifest.bytes)
                   + " bytes, but this model's has "
                   + std::to_string(state_bytes(values, moments))};
  if (manifest.piece_bytes < min_piece_bytes
      || manifest.piece_bytes > max_body_bytes)
    return failure{"the donor cuts its training state into pieces of "
                   + std::to_string(manifest.piece_bytes)
                   + " bytes, which is outside the limits"};
  if (manifest.bytes / manifest.piece_bytes
      >= std::numeric_limits<std::uint32_t>::max())
    return failure{"the donor cuts its training state into too many pieces"};
  if (manifest.mean
      || manifest.pieces.size()
             != (manifest.bytes + manifest.piece_bytes - 1)
                    / manifest.piece_bytes)
    return failure{"the donor's list of pieces does not fit its state"};
  if (manifest.recent.size() > max_recent_digests || manifest.recent.empty()
      || manifest.recent.front() != manifest.state)
    return failure{"the donor's list of recent digests is malformed"};
  return state_transfer(std::move(manifest), values, moments, guards);
}

state_transfer::verdict state_transfer::offer(std::uint32_t piece,
                                              const std::uint8_t* data,
                                              std::size_t size) {
  auto place = extent_of(manifest_, piece);
  if (place.size == 0)
    return verdict::wrong_piece;
  if (placed_[piece])
    return verdict::repeated;
  if (size != place.size)
    return verdict::wrong_length;
  if (digest_of(data, size) != manifest_.pieces[piece]
      && guards_.has(safeguard::piece_digest))
    return verdict::wrong_bytes;
  visit_bytes(
      state_regions<training_state, std::uint8_t>(header_.data(), state_),
      place.offset, size, [&](std::uint8_t* out, std::size_t count) {
        std::memcpy(out, data, count);
        data += count;
      });
  placed_[piece] = true;
  --missing_;
  return missing_ == 0 ? verdict::complete : verdict::placed;
}

expected<training_state> state_transfer::finish() {
  if (!complete())
    throw std::logic_error("state_transfer: finished with pieces missing");
  auto done = read_state_header(header_, state_.parameters.size(), state_);
  if (!done)
    return failure{done.error()};
  if (state_.step != manifest_.step
      || state_.history_samples != manifest_.history_samples
      || digest_of_state(state_) != manifest_.state)
    return failure{"the training state that arrived is not the one that was "
                   "announced; fetch it again, from another peer if possible"};
  state_.recent = manifest_.recent;
  return std::move(state_);
}

} // namespace potluck
