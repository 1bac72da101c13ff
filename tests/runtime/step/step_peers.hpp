/// Peers, states and reports for the tests of a step's parts.
#pragma once

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck::step_peers {

using namespace std::chrono_literals;

inline constexpr time_point start{1000s};

inline peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

inline digest state(std::uint8_t number) {
  digest x;
  x.bytes[0] = number;
  return x;
}

/// A trainer that accumulates at step 3.
inline progress_report report(std::uint8_t number, std::uint64_t samples = 0,
                              std::uint64_t step = 3) {
  progress_report x;
  x.id = peer(number);
  x.phase = phase::accumulating;
  x.step = step;
  x.history_samples = 100 * step;
  x.state = state(static_cast<std::uint8_t>(step));
  x.samples = samples;
  return x;
}

} // namespace potluck::step_peers
