#include "models/moe/expert_function.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <torch/csrc/autograd/custom_function.h>

#include "runtime/vector_loops.hpp"

namespace potluck::moe {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the passes of one call have in common.
struct course : torch::CustomClassHolder {
  std::shared_ptr<const expert_plan> plan;
  mixture_outcome forward;
};

/// A pass of the plan over these inputs, with these experts.
mixture_batch batch_of(const expert_plan& plan,
                       std::vector<expert_group> groups, const at::Tensor& x) {
  return {*plan.network,
          plan.known.get(),
          plan.rules,
          std::move(groups),
          static_cast<std::size_t>(x.size(0)),
          x.data_ptr<float>()};
}

/// Whom the backward pass calls: those who answered, for the samples that used
/// it.
std::vector<expert_group> answered_groups(const course& state) {
  std::vector<expert_group> result;
  for (const auto& group : state.plan->groups) {
    expert_group kept{group.uid, {}};
    for (const auto& x : group.seats)
      if (state.forward.enough[x.sample]
          && state.forward
                 .answered[std::size_t{x.sample} * state.plan->rules.slots
                           + x.slot])
        kept.seats.push_back(x);
    if (!kept.seats.empty())
      result.push_back(std::move(kept));
  }
  return result;
}

class expert_function : public torch::autograd::Function<expert_function> {
public:
  /// `spark` only makes the result need a gradient.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& spark,
                            c10::intrusive_ptr<course> state) {
    const auto& plan = *state->plan;
    auto x = input.detach().to(at::kCPU).contiguous();
    auto values = at::zeros({x.size(0), plan.rules.slots, plan.rules.outputs},
                            x.options());
    state->forward = forward_pass(batch_of(plan, plan.groups, x),
                                  values.data_ptr<float>());
    context->save_for_backward({input, spark});
    context->saved_data["course"] = c10::IValue::make_capsule(state);
    return values.to(input.device());
  }

  static variable_list backward(AutogradContext* context,
                                variable_list gradients) {
    if (at::GradMode::is_enabled())
      throw std::runtime_error("Experts elsewhere can be differentiated once "
                               "only: leave create_graph out.");
    auto saved = context->get_saved_variables();
    auto state = c10::static_intrusive_pointer_cast<course>(
        context->saved_data["course"].toCapsule());
    const auto& plan = *state->plan;
    auto x = saved[0].detach().to(at::kCPU).contiguous();
    auto grad = gradients[0].detach().to(at::kCPU).contiguous();
    if (!all_finite(grad.data_ptr<float>(),
                    static_cast<std::size_t>(grad.numel())))
      throw std::runtime_error("The gradient for experts is not finite: lower "
                               "the learning rate or scale the loss.");
    at::Tensor grad_input;
    if (context->needs_input_grad(0))
      grad_input = at::zeros_like(x);
    const auto result = backward_pass(
        batch_of(plan, answered_groups(*state), x), grad.data_ptr<float>(),
        grad_input.defined() ? grad_input.data_ptr<float>() : nullptr);
    if (plan.strict && !result.all)
      throw std::runtime_error(result.problem);
    if (grad_input.defined())
      grad_input = grad_input.to(saved[0].device());
    return {grad_input, at::Tensor{}, at::Tensor{}};
  }
};

} // namespace

expert_outputs call_experts(const std::shared_ptr<const expert_plan>& plan,
                            const at::Tensor& input) {
  auto state = c10::make_intrusive<course>();
  state->plan = plan;
  auto spark = at::empty({0}, at::kFloat).set_requires_grad(true);
  expert_outputs result;
#pragma GCC diagnostic push // GCC 14 is wrong about a vector of LibTorch's.
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
  result.values = expert_function::apply(input, spark, state);
#pragma GCC diagnostic pop
  const auto& made = state->forward;
  result.answered = at::zeros({input.size(0), plan->rules.slots}, at::kBool);
  std::copy(made.answered.begin(), made.answered.end(),
            result.answered.data_ptr<bool>());
  result.enough = made.enough;
  result.problem = made.problem;
  return result;
}

void check_input(const std::string& whose, const at::Tensor& x,
                 std::int64_t inputs) {
  if (!x.defined() || x.dim() == 0 || x.size(-1) != inputs)
    throw std::invalid_argument(
        whose + " takes samples of " + std::to_string(inputs)
        + " values in the last dimension"
        + (x.defined() && x.dim() > 0
               ? ", not of " + std::to_string(x.size(-1)) + "."
               : "."));
  if (x.scalar_type() != at::kFloat)
    throw std::invalid_argument(
        whose + " takes float32 only: convert with .to(torch::kFloat32).");
  if (x.numel() == 0)
    throw std::invalid_argument(whose + " needs at least one sample.");
  auto values = x.detach().to(at::kCPU).contiguous();
  if (!all_finite(values.data_ptr<float>(),
                  static_cast<std::size_t>(values.numel())))
    throw std::invalid_argument(whose
                                + " was given values that are not finite.");
}

} // namespace potluck::moe
