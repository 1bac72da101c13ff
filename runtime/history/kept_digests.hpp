/// The digests of this peer's state after its last steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "messages/ids.hpp"

namespace potluck {

class kept_digests {
public:
  /// Steps: 64 KiB, and the two minutes after which parts of a run that is fast
  /// have long met again.
  static constexpr std::size_t most = 4096;

  /// @param step One more than the last one; else what was kept belongs to
  ///     another history, or has a gap.
  void add(std::uint64_t step, const digest& state) {
    if (goes_through(step, state) && step == last_)
      return;
    if (step != last_ + 1)
      kept_.clear();
    last_ = step;
    kept_.push_back(state);
    if (kept_.size() > most)
      kept_.pop_front();
  }
  /// Nothing is known of what came before this one.
  void restart(std::uint64_t step, const digest& state) {
    kept_.assign(1, state);
    last_ = step;
  }
  /// Null: not known.
  const digest* after(std::uint64_t step) const {
    return step > last_ || last_ - step >= kept_.size()
               ? nullptr
               : &kept_[kept_.size() - 1 - (last_ - step)];
  }

  /// Whether this is known to be a state that it went through.
  bool goes_through(std::uint64_t step, const digest& state) const {
    const auto* known = after(step);
    return known && *known == state;
  }

private:
  std::uint64_t last_ = 0;
  std::deque<digest> kept_;
};

} // namespace potluck
