/// Peers, states, reports and contracts for the tests of histories.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "messages/matchmaking.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck::history_peers {

inline constexpr time_point start{std::chrono::seconds{1000}};

inline peer_id peer(std::size_t number) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(number);
  return x;
}

/// After `step` of history `line`.
inline digest state(std::uint64_t step, char line = 'a') {
  digest x;
  x.bytes[0] = static_cast<std::uint8_t>(line);
  x.bytes[1] = static_cast<std::uint8_t>(step);
  x.bytes[2] = static_cast<std::uint8_t>(step >> 8);
  return x;
}

inline progress_report report(std::size_t number, std::uint64_t step,
                              char line = 'a') {
  progress_report x;
  x.id = peer(number);
  x.phase = phase::accumulating;
  x.step = step;
  x.history_samples = 100 * step;
  x.state = state(step, line);
  return x;
}

/// Trainers and their samples.
inline group_contract
contract(std::initializer_list<std::pair<std::size_t, std::uint64_t>> all) {
  group_contract x;
  for (auto& [number, samples] : all) {
    group_member m;
    m.who.id = peer(number);
    m.samples = samples;
    x.members.push_back(m);
  }
  return x;
}

} // namespace potluck::history_peers
