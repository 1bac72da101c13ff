/// The group that this peer leads or follows, from the invitation on: whose
/// letters are worth keeping before the round begins here. Thread-safe.
///
/// Only who was invited knows a group's id, so a stranger cannot guess it.
#pragma once

#include <mutex>

#include "messages/ids.hpp"

namespace potluck {

class awaited_group {
public:
  /// Before anybody else hears that this peer takes part in it.
  void set(const group_id& x) {
    std::lock_guard<std::mutex> guard{mutex_};
    group_ = x;
  }
  bool is(const group_id& x) const {
    std::lock_guard<std::mutex> guard{mutex_};
    return !x.empty() && group_ == x;
  }

private:
  mutable std::mutex mutex_;
  group_id group_;
};

} // namespace potluck
