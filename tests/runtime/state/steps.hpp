/// States, means and bounds that tests of downloads share.
#pragma once

#include <memory>
#include <vector>

#include "runtime/config.hpp"
#include "runtime/random.hpp"
#include "runtime/state/state_joiner.hpp"

namespace potluck {

inline peer_id id_of(std::size_t number) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(number + 1);
  return x;
}

inline training_state state_of(std::uint64_t values, std::uint64_t step) {
  training_state x;
  x.step = step;
  x.parameters.assign(values, 1.0f);
  x.first_moment.assign(values, 0.0f);
  x.second_moment.assign(values, 2.0f);
  remember_digest(x);
  return x;
}

inline std::shared_ptr<std::vector<float>> some_mean(std::uint64_t values,
                                                     std::uint64_t seed) {
  auto mean = std::make_shared<std::vector<float>>(values);
  for (std::uint64_t i = 0; i < values; ++i)
    (*mean)[i] = static_cast<float>(mix(seed, i) % 1000);
  return mean;
}

/// A step, without an optimizer.
inline void lay_on(training_state& state, const std::vector<float>& mean) {
  for (std::size_t i = 0; i < mean.size(); ++i)
    state.parameters[i] += mean[i];
  ++state.step;
  state.history_samples += 64;
  remember_digest(state);
}

inline state_donor::bounds usual_donor() {
  return {{limits::joiners_served, limits::joiner_bytes_in_flight, 0,
           limits::joiner_silence, limits::listeners_served},
          {limits::means_kept, limits::journal_steps, limits::journal_bytes},
          limits::snapshots_kept};
}

inline state_joiner::bounds usual_joiner() {
  return {{limits::joiner_bytes_in_flight, limits::piece_floor,
           limits::piece_cap, limits::least_bytes_in_flight},
          limits::donors_at_once,
          limits::joiner_mean_bytes,
          limits::joiner_means};
}

} // namespace potluck
