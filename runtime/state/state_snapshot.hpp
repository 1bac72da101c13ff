/// One version of the state that a donor serves while newer ones come: shared,
/// never changed, cut without copying wherever a piece lies in one vector.
#pragma once

#include <cstdint>
#include <memory>

#include "messages/message.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

class state_snapshot {
public:
  /// Reads the state twice, for its digest and those of its pieces.
  explicit state_snapshot(std::shared_ptr<const training_state> state);

  const training_state& state() const {
    return *state_;
  }
  const potluck::digest& digest() const {
    return list_.state;
  }
  /// What to answer a joiner that asks with `token`.
  state_manifest manifest(std::uint64_t token) const;

  /// Nothing (size 0) when there is no such piece. Keeps the state alive.
  shared_bytes piece(std::uint32_t index) const;

private:
  std::shared_ptr<const training_state> state_;
  state_manifest list_;
};

} // namespace potluck
