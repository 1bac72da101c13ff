/// The experiments of Learning@home (Ryabinin and Gusev 2020, section 4),
/// small: what delays cost a decentralised mixture of experts and a pipeline,
/// and how both kinds of network learn from stale gradients.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/ports/expert_module.hpp"

namespace potluck::bench {

/// A network of `layers` blocks, of which a mixture's have `grid` experts each.
struct mixture_shape {
  std::uint32_t layers = 4;
  std::uint32_t hidden = 256;
  std::uint32_t inner = 512; ///< Of an expert; a dense block has k times that.
  std::string grid = "4x4";
  std::uint32_t k = 4;
  std::uint32_t micro_batch = 128; ///< Samples.
};

/// Samples a second of a trainer that keeps `in_flight` micro-batches under
/// way, in at least `seconds`.
double mixture_throughput(const mixture_shape& shape,
                          std::chrono::milliseconds mean_delay,
                          std::uint32_t in_flight, double seconds);

/// Samples a second of the same blocks, dense, each on another machine behind
/// the same lines: as many micro-batches as there are blocks go through them
/// one behind the other, forward and back; then all blocks have learnt, and the
/// next begin.
double pipeline_throughput(const mixture_shape& shape,
                           std::chrono::milliseconds mean_delay,
                           double seconds);

struct learning_options {
  std::string data = "digits";
  std::uint64_t updates = 1500;
  std::uint32_t in_flight = 16; ///< Gradients are as stale as so many updates.
  std::chrono::milliseconds mean_delay{10};
  double failing = 0.1;
  double learning_rate = 0.01;
  double expert_rate = expert_kind{}.learning_rate; ///< Of a mixture's experts.
  std::uint64_t look_every = 100; ///< Updates between two evaluations.
  std::uint64_t look_at = 1000;   ///< Samples of an evaluation.
  std::uint64_t seed = 1;
};

struct learning_point {
  std::uint64_t update = 0;
  double accuracy = 0;
};

struct learning_curve {
  std::vector<learning_point> points;
  double staleness = 0; ///< Updates between a gradient's parameters and itself.
};

/// A mixture whose experts are behind such lines and lose calls.
learning_curve learn_with_mixture(const mixture_shape& shape,
                                  const learning_options& how);

/// A dense network of the same computing, whose gradients are applied
/// `in_flight` updates late.
learning_curve learn_dense(const mixture_shape& shape,
                           const learning_options& how);

} // namespace potluck::bench
