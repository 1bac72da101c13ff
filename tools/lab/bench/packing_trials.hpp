/// How a network learns when what its trainers send each other is packed: as in
/// a run, without the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/packing/packing.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck::bench {

struct packed_learning_options {
  std::uint32_t members = 4;
  std::uint64_t look_every = 50; ///< Steps between two points.
  std::uint64_t look_at = 512;   ///< Samples of an evaluation.
};

struct packed_learning_point {
  std::uint64_t step = 0;
  double loss = 0; ///< Mean over the steps since the last point.
};

struct packed_learning_curve {
  std::vector<packed_learning_point> points;
  evaluation end; ///< Of samples in another order, after the last step.
  /// What a member sends a step, on average.
  double part_bytes = 0;
  double mean_bytes = 0;
};

/// Members compute their shares of each target batch, reducers average the
/// chunks in turn and keep their own parts as they are, means go back packed,
/// and LAMB makes the step: the bits of a run whose parts come in order.
packed_learning_curve learn_packed(trainer& model, const run_settings& settings,
                                   packing what,
                                   const packed_learning_options& how);

} // namespace potluck::bench
