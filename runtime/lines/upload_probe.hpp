/// How much to send a peer for no other reason than to see how fast it goes.
///
/// A newcomer has sent nothing yet, so nobody knows its uplink, and its first
/// rounds would be planned as if it were like the others'. A probe keeps the
/// line busy for long enough for `line_estimator`, with few bytes: lines that
/// carry them all before it has its samples are fast enough to be measured by
/// rounds. Pure: what passed comes in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/limits.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class upload_probe {
public:
  /// Bytes of the first burst: what TCP sends at once anyway.
  static constexpr std::size_t first_burst = 16 * 1024;
  /// Of all: what receivers stand. A line of 25 Mbit/s carries it in 0.7 s.
  static constexpr std::size_t budget = max_probe_total;
  /// A line that takes longer has been measured, or never will be.
  static constexpr duration longest = std::chrono::seconds{3};

  /// Bytes to send at first.
  std::size_t begin();

  /// Bytes to send next, so that the line stays busy and nothing else waits
  /// long behind them; 0 for none.
  /// @param acknowledged Bytes that have arrived in `interval`.
  std::size_t observed(duration interval, std::uint64_t acknowledged);

  /// What it was for is known, or its receiver is gone.
  void stop() {
    over_ = true;
  }
  bool over() const {
    return over_;
  }

private:
  std::uint64_t sent_ = 0;
  std::uint64_t arrived_ = 0;
  duration passed_{0};
  bool over_ = false;
};

} // namespace potluck
