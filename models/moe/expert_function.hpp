/// Experts elsewhere as a differentiable function. Private to this folder,
/// since it includes LibTorch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "runtime/experts/mixture_calls.hpp"

namespace potluck::moe {

struct expert_plan {
  std::shared_ptr<expert_network> network;
  std::vector<expert_group> groups;
  mixture_rules rules;
  std::shared_ptr<expert_memory> known; ///< May be null.
  /// Whether a backward call that fails throws; if not, it gives no gradient.
  bool strict = false;
};

struct expert_outputs {
  at::Tensor values;   ///< [samples, slots, outputs]; zero where none answered.
  at::Tensor answered; ///< [samples, slots] bool, on the CPU.
  std::vector<bool> enough; ///< Which samples have `k_min` answers.
  std::string problem;      ///< Why the last that failed did; or empty.
};

/// Calls all experts of the plan at once; those whose samples do not fit one
/// frame, or are more than a host computes at once, several times. Blocks.
///
/// Differentiable once: the backward pass calls the experts that answered, all
/// at once, which also teaches them. So it does even where no gradient of
/// `input` is wanted, unless gradients are off altogether. It waits as the
/// forward pass does; who fails then or is late contributes nothing to the
/// gradient of `input`.
/// @param input [samples, inputs] float32. Throws std::runtime_error in the
/// backward pass when gradients of the outputs are not finite.
expert_outputs call_experts(const std::shared_ptr<const expert_plan>& plan,
                            const at::Tensor& input);

/// Throws std::invalid_argument with a sentence unless `x` is float32, finite,
/// and [..., inputs] with at least one sample. `whose` begins the sentence.
void check_input(const std::string& whose, const at::Tensor& x,
                 std::int64_t inputs);

} // namespace potluck::moe
