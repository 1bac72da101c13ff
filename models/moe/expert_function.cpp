#include "models/moe/expert_function.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <torch/csrc/autograd/custom_function.h>

#include "messages/limits.hpp"
#include "models/moe/expert_calls.hpp"
#include "runtime/experts/task_pool.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck::moe {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the passes of one call have in common.
struct course : torch::CustomClassHolder {
  std::shared_ptr<const expert_plan> plan;
  std::vector<expert_group> parts; ///< Groups cut so that each fits a frame.
  std::vector<bool> answered;      ///< Of `parts`, in the forward pass.
  std::vector<bool> enough;
  std::string problem;
};

std::size_t row_of(const expert_plan& plan, const seat& x) {
  return (std::size_t{x.sample} * plan.slots + x.slot)
         * static_cast<std::size_t>(plan.outputs);
}

std::vector<expert_group> cut(const expert_plan& plan, std::size_t inputs) {
  // A backward call carries inputs and gradients.
  auto values = inputs + static_cast<std::size_t>(plan.outputs);
  auto most
      = std::min<std::size_t>(limits::expert_batch, max_sample_values / values);
  std::vector<expert_group> parts;
  for (const auto& group : plan.groups)
    for (std::size_t i = 0; i < group.seats.size(); i += most) {
      auto from = group.seats.begin() + static_cast<std::ptrdiff_t>(i);
      auto count = std::min(most, group.seats.size() - i);
      parts.push_back(
          {group.uid, {from, from + static_cast<std::ptrdiff_t>(count)}});
    }
  return parts;
}

/// The call of one part. `grad` is null in a forward pass.
wanted_call make_call(const expert_plan& plan, const expert_group& part,
                      const at::Tensor& input, const at::Tensor* grad) {
  auto inputs = static_cast<std::size_t>(input.size(1));
  auto outputs = static_cast<std::size_t>(plan.outputs);
  auto rows = part.seats.size();
  auto values = std::make_shared<float_array>();
  values->resize(rows * (grad ? inputs + outputs : inputs));
  auto out = values->data();
  const auto* in = input.data_ptr<float>();
  for (const auto& x : part.seats)
    out = std::copy_n(in + x.sample * inputs, inputs, out);
  if (grad)
    for (const auto& x : part.seats)
      out = std::copy_n(grad->data_ptr<float>() + row_of(plan, x), outputs,
                        out);
  wanted_call call;
  call.what.uid = part.uid;
  call.what.pass = grad ? expert_pass::backward : expert_pass::forward;
  call.what.samples = static_cast<std::uint32_t>(rows);
  call.what.values = std::move(values);
  call.what.patience = plan.patience;
  call.what.packing = plan.packing;
  call.values = rows * (grad ? inputs : outputs);
  for (const auto& x : part.seats)
    call.samples.push_back(x.sample);
  return call;
}

/// Whom the backward pass calls: those who answered, for the samples that used
/// it.
std::vector<expert_group> answered_parts(const course& state) {
  std::vector<expert_group> parts;
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    if (!state.answered[i])
      continue;
    expert_group part{state.parts[i].uid, {}};
    for (const auto& x : state.parts[i].seats)
      if (state.enough[x.sample])
        part.seats.push_back(x);
    if (!part.seats.empty())
      parts.push_back(std::move(part));
  }
  return parts;
}

class expert_function : public torch::autograd::Function<expert_function> {
public:
  /// `spark` only makes the result need a gradient.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& spark,
                            c10::intrusive_ptr<course> state) {
    const auto& plan = *state->plan;
    auto x = input.detach().to(at::kCPU).contiguous();
    state->parts = cut(plan, static_cast<std::size_t>(x.size(1)));
    std::vector<wanted_call> calls;
    for (const auto& part : state->parts)
      calls.push_back(make_call(plan, part, x, nullptr));
    auto result = call_together(
        *plan.network, std::move(calls), static_cast<std::size_t>(x.size(0)),
        {plan.k_min, plan.timeout_after_k_min, plan.patience},
        plan.known.get());
    auto values = at::zeros({x.size(0), plan.slots, plan.outputs}, x.options());
    auto outputs = static_cast<std::size_t>(plan.outputs);
    for (std::size_t i = 0; i < state->parts.size(); ++i) {
      const auto& answer = result.answers[i];
      state->answered.push_back(!answer.empty());
      if (answer.empty())
        continue;
      const auto* row = answer.data();
      for (const auto& y : state->parts[i].seats) {
        std::copy_n(row, outputs, values.data_ptr<float>() + row_of(plan, y));
        row += outputs;
      }
    }
    state->enough = std::move(result.enough);
    state->problem = std::move(result.problem);
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
    std::vector<wanted_call> calls;
    auto parts = answered_parts(*state);
    for (const auto& part : parts)
      calls.push_back(make_call(plan, part, x, &grad));
    auto result = call_together(
        *plan.network, std::move(calls), static_cast<std::size_t>(x.size(0)),
        {plan.k_min, plan.timeout_after_k_min, plan.patience},
        plan.known.get());
    auto missing = std::any_of(result.answers.begin(), result.answers.end(),
                               [](const auto& y) { return y.empty(); });
    if (plan.strict && missing)
      throw std::runtime_error(result.problem);
    at::Tensor grad_input;
    if (context->needs_input_grad(0)) {
      grad_input = at::zeros_like(x);
      auto inputs = static_cast<std::size_t>(x.size(1));
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (result.answers[i].empty())
          continue;
        const auto* row = result.answers[i].data();
        for (const auto& y : parts[i].seats) {
          add_to(grad_input.data_ptr<float>() + y.sample * inputs, row, inputs);
          row += inputs;
        }
      }
      grad_input = grad_input.to(saved[0].device());
    }
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
  result.values = expert_function::apply(input, spark, state);
  result.answered = at::zeros({input.size(0), plan->slots}, at::kBool);
  auto* answered = result.answered.data_ptr<bool>();
  for (std::size_t i = 0; i < state->parts.size(); ++i)
    for (const auto& x : state->parts[i].seats)
      answered[std::size_t{x.sample} * plan->slots + x.slot]
          = state->answered[i];
  result.enough = state->enough;
  result.problem = state->problem;
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
