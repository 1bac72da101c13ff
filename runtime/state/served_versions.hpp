/// The versions of the state that a donor keeps while joiners fetch them: few,
/// for each is as large as the whole state.
///
/// Knows nobody: its owner says which ones are still fetched. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "runtime/state/state_snapshot.hpp"

namespace potluck {

class served_versions {
public:
  /// @param most Versions at once.
  explicit served_versions(std::size_t most) : most_(most) {
  }

  /// Keeps this one too, if there is room and its step's is not here. Reads the
  /// state twice.
  void add(std::shared_ptr<const training_state> state);
  void drop(std::uint64_t step);

  /// The one after that step; null when it is not here.
  const state_snapshot* after(std::uint64_t step) const;
  /// Of all that are here; the one that came last is last.
  std::vector<std::uint64_t> steps() const;
  /// Nothing (size 0) when it is not here. Keeps the state alive.
  shared_bytes piece(const digest& state, std::uint32_t index) const;

  /// Whether there is room for the version after `step`, beside the others that
  /// are here and those after the steps `awaited`.
  bool has_room_for(std::uint64_t step, std::set<std::uint64_t> awaited) const;

private:
  std::size_t most_;
  std::deque<state_snapshot> versions_; ///< Newest last.
};

} // namespace potluck
