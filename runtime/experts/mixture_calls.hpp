/// Both passes of a mixture of experts on plain memory: who is called for which
/// samples, and what becomes of the answers. Whatever computes gradients, here
/// or in another language, stands on it.
///
/// A sample has `slots` experts at most, and the passes keep nothing between
/// them: the backward pass is told who answered in the forward pass. Both
/// block, and may be called by any number of threads at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/experts/expert_memory.hpp"
#include "runtime/ports/expert_network.hpp"

namespace potluck {

/// One sample's place with one of its experts.
struct seat {
  std::uint32_t sample = 0;
  std::uint32_t slot = 0; ///< Which of the sample's `slots`.
};

/// The samples of one expert.
struct expert_group {
  std::string uid;
  std::vector<seat> seats;
};

/// Puts the seats of a layer's experts together, in the order in which the
/// experts are named first.
class seating {
public:
  explicit seating(std::string layer) : layer_(std::move(layer)) {
  }

  void add(const std::vector<std::uint32_t>& place, const seat& x);

  const std::vector<expert_group>& groups() const {
    return groups_;
  }

private:
  std::string layer_;
  std::map<std::vector<std::uint32_t>, std::size_t> index_;
  std::vector<expert_group> groups_;
};

struct mixture_rules {
  std::uint32_t slots = 1;   ///< Experts of a sample at most.
  std::uint32_t inputs = 0;  ///< Values of a sample. Not zero.
  std::uint32_t outputs = 0; ///< Not zero; both fit one frame.
  std::uint32_t k_min = 1;   ///< Answers that a sample waits for.
  /// Who has not answered so long after a sample had `k_min` is left out.
  std::chrono::milliseconds timeout_after_k_min{0};
  std::chrono::milliseconds patience{0}; ///< Nobody is waited for longer.
  potluck::packing packing = potluck::packing::float32; ///< Of the calls.
};

/// What one pass is made over. Outlived by what it refers to.
struct mixture_batch {
  expert_network& network;
  expert_memory* known; ///< Is told who answers; may be null.
  const mixture_rules& rules;
  std::vector<expert_group> groups;
  std::size_t samples;
  const float* inputs; ///< [samples, inputs], finite.
};

struct mixture_outcome {
  std::vector<bool> answered; ///< [samples, slots]: whose values counted.
  std::vector<bool> enough;   ///< Which samples have `k_min` answers.
  bool all = true;            ///< Whether all who were called answered.
  std::string problem;        ///< Why the last that failed did; or empty.
};

/// Calls all experts at once; those whose samples do not fit one frame, or are
/// more than a host computes at once, several times.
/// @param outputs [samples, slots, outputs], zeros; those of experts that
/// answer are written.
mixture_outcome forward_pass(const mixture_batch& batch, float* outputs);

/// The same for their gradients, which also teaches the experts. Who fails, or
/// is late, contributes nothing.
/// @param gradients Of the outputs, [samples, slots, outputs], finite.
/// @param input_gradients [samples, inputs], to which those of the experts are
/// added; null: nobody wants them.
mixture_outcome backward_pass(const mixture_batch& batch,
                              const float* gradients, float* input_gradients);

} // namespace potluck
