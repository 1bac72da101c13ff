/// How much of what a connection delivered is still held by its consumers.
///
/// The loop's thread takes credit and pauses; any thread gives back. Knows
/// neither sockets nor frames.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace potluck {

class read_credit {
public:
  /// @param high_mark Bytes above which reading pauses.
  /// @param low_mark At which it resumes.
  /// @param resume Called on the thread that gave back, once per pause.
  read_credit(std::size_t high_mark, std::size_t low_mark,
              std::function<void()> resume)
      : high_mark_(high_mark), low_mark_(low_mark), resume_(std::move(resume)) {
  }

  void take(std::size_t bytes) {
    held_ += bytes;
  }

  bool exhausted() const {
    return held_ > high_mark_;
  }

  /// To be called after reading has stopped. False when so much has come back
  /// since `exhausted()` that nobody will call `resume`: read on.
  bool pause() {
    paused_ = true;
    return held_ > low_mark_ || !paused_.exchange(false);
  }

  void give_back(std::size_t bytes) {
    // Whoever clears `paused_` resumes: this thread or `pause`, never both and
    // never neither, since all of these operations have one total order.
    auto left = held_.fetch_sub(bytes) - bytes;
    if (left <= low_mark_ && paused_.exchange(false))
      resume_();
  }

private:
  const std::size_t high_mark_;
  const std::size_t low_mark_;
  const std::function<void()> resume_;
  std::atomic<std::size_t> held_{0};
  std::atomic<bool> paused_{false};
};

} // namespace potluck
