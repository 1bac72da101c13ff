/// States of earlier that a member keeps on disk, so that its run can be rolled
/// back: the newest few, each a checkpoint in a folder of its own, under its
/// step and its digest.
///
/// Blocking: for a worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
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

  /// The oldest of too many go. Those of later steps, which an earlier start of
  /// the peer left, are counted apart until the run has got there: this start
  /// may have begun anew. Fails with a sentence.
  expected<bool> keep(const charter& agreed, const training_state& state) const;

  /// The run went back to this step: what lies behind it, of a history that was
  /// given up, goes.
  void give_up_after(std::uint64_t step) const;

  /// The state after this step, if it is here and is this one; fails with a
  /// sentence where it is not.
  /// @param state Empty: whichever is here.
  expected<training_state> find(std::uint64_t step, const digest& state) const;

  /// By step, as the files' names have them.
  std::map<std::uint64_t, digest> all() const;

private:
  std::string path_of(std::uint64_t step, const digest& state) const;

  std::string folder_;
  std::size_t most_;
};

/// What is kept, for another thread. Thread-safe.
class kept_list {
public:
  void set(std::map<std::uint64_t, digest> all) {
    std::lock_guard<std::mutex> guard{mutex_};
    all_ = std::move(all);
  }
  /// Empty: the state after this step is not kept.
  digest at(std::uint64_t step) const {
    std::lock_guard<std::mutex> guard{mutex_};
    const auto found = all_.find(step);
    return found == all_.end() ? digest{} : found->second;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, digest> all_;
};

} // namespace potluck
