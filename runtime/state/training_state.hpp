/// What a step changes and a joiner needs: the model's parameters, the
/// optimizer's moments, and how far the run is.
///
/// Knows neither files nor peers: checkpoint.hpp and blob_download.hpp carry
/// it. As bytes it is `state_header_bytes` and the vectors (README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/ids.hpp"
#include "messages/limits.hpp"
#include "messages/message.hpp"
#include "messages/state.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

constexpr std::size_t state_header_bytes = 64;
/// 16 G values: keeps arithmetic on sizes far from overflow.
constexpr std::uint64_t max_state_values = std::uint64_t{1} << 34;
/// Vectors of the parameters' length that an optimizer keeps, at most.
constexpr unsigned most_moments = 2;

struct training_state {
  std::uint64_t step = 0;            ///< Updates applied.
  std::uint64_t history_samples = 0; ///< Samples behind all of them.
  /// Laid out by the model's `model_layout`. Moments have the same length, or
  /// are empty where the run's optimizer keeps fewer.
  std::vector<float> parameters;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
  /// `digest_of_state` after the latest steps, newest (of `step`) first, at
  /// most `max_recent_digests`. Not a part of the digest or of the bytes.
  std::vector<digest> recent;

  /// Moments that are there; 0 where there are no parameters.
  unsigned moments() const {
    return (first_moment.empty() ? 0u : 1u) + (second_moment.empty() ? 0u : 1u);
  }
};

/// The state before the first step: the same bits on every machine for the same
/// layout and seed. Parameters are the layout's mean plus its deviation times
/// noise, the sum of twelve uniform numbers minus their mean (Irwin-Hall:
/// nearly normal, never beyond six deviations); moments are zero.
/// @param moments As the run's optimizer keeps.
training_state initial_state(const model_layout& layout, std::uint64_t seed,
                             unsigned moments = most_moments);

/// Makes it a state with so many moments: new ones are zero, others are
/// dropped. Where that changes it, `recent` has nothing but its new digest.
void set_moments(training_state& state, unsigned moments);

/// Of step, history and the vectors.
digest digest_of_state(const training_state& state);

/// Puts `digest_of_state(state)` in front of `recent`, dropping the oldest:
/// called after every step. Returns that digest.
digest remember_digest(training_state& state);

/// Length in bytes of a state of `values` parameters and so many moments.
std::uint64_t state_bytes(std::uint64_t values,
                          unsigned moments = most_moments);
/// Of this one.
std::uint64_t state_bytes(const training_state& state);

/// Copies bytes `offset` to `offset + size` of the state's bytes to `out`.
/// Throws std::out_of_range when the state is shorter.
void read_state_bytes(const training_state& state, std::uint64_t offset,
                      std::uint8_t* out, std::size_t size);

} // namespace potluck
