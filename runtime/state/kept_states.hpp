/// States of earlier that a member keeps on disk, so that its run can be rolled
/// back: the newest few, each a checkpoint in a folder of its own.
///
/// Blocking: for a worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "messages/expected.hpp"
#include "runtime/state/checkpoint.hpp"

namespace potluck {

class kept_states {
public:
  /// @param folder Made when there is something to keep. @param most States.
  kept_states(std::string folder, std::size_t most)
      : folder_(std::move(folder)), most_(most) {
  }

  /// Those behind its step, of a history that was given up, go, and so do the
  /// oldest of too many. Fails with a sentence.
  expected<bool> keep(const charter& agreed, const training_state& state) const;

  /// The state after this step, if it is here and is this one; fails with a
  /// sentence where it is not.
  expected<training_state> find(std::uint64_t step, const digest& state) const;

private:
  std::string path_of(std::uint64_t step) const;

  std::string folder_;
  std::size_t most_;
};

} // namespace potluck
