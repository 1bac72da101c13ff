/// What a sponsor's contributors have, by what they said last.
///
/// They report every few seconds; between two reports those who accumulate go
/// on at their speed. Counting only what was reported would call for a step
/// when there is more than enough: a sponsor would gather half a report's
/// pause too late.
///
/// Pure. A sponsor has hundreds and asks after each of its own batches, so the
/// rows lie in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// Samples that a contributor has accumulated since it had so many, if it goes
/// on at its speed. Who has none has not begun.
double samples_since(std::uint64_t samples, double samples_per_second,
                     duration age);

class cell_tally {
public:
  struct sum {
    std::size_t contributors = 0; ///< Wherever they stand.
    /// Of those who stand where the sponsor does, as are the next.
    std::uint64_t samples = 0;
    double samples_per_second = 0;
  };

  /// A report of a contributor of ours.
  void heard(const progress_report& x, time_point now);
  /// It is gone, or somebody else's.
  void forget(const peer_id& who);
  /// It has handed over all that it had.
  void gave(const peer_id& who);

  /// @param longest_guess Nobody is believed to have gone on for longer since
  ///     its last report. Who has reported no samples has none.
  sum at(std::uint64_t step, const digest& state, time_point now,
         duration longest_guess) const;

private:
  struct row {
    peer_id id;
    digest state;
    std::uint64_t step = 0;
    std::uint64_t samples = 0;
    double samples_per_second = 0;
    bool goes_on = false;
    time_point at;
  };
  std::vector<row>::iterator place_of(const peer_id& who);
  bool is_at(std::vector<row>::iterator i, const peer_id& who) const {
    return i != rows_.end() && i->id == who;
  }

  std::vector<row> rows_; ///< By id.
};

} // namespace potluck
