#include "runtime/experts/mixture_calls.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "messages/limits.hpp"
#include "runtime/experts/expert_calls.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/experts/task_pool.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

/// Where a seat's values begin in [samples, slots, outputs].
std::size_t row_of(const mixture_rules& rules, const seat& x) {
  return (std::size_t{x.sample} * rules.slots + x.slot) * rules.outputs;
}

/// Cuts groups so that each fits a frame, in a backward pass, too, which
/// carries inputs and gradients.
std::vector<expert_group> cut(const mixture_batch& batch) {
  const auto values
      = std::size_t{batch.rules.inputs} + std::size_t{batch.rules.outputs};
  const auto most
      = std::min<std::size_t>(limits::expert_batch, max_sample_values / values);
  std::vector<expert_group> parts;
  for (const auto& group : batch.groups)
    for (std::size_t i = 0; i < group.seats.size(); i += most) {
      const auto from = group.seats.begin() + static_cast<std::ptrdiff_t>(i);
      const auto count = std::min(most, group.seats.size() - i);
      parts.push_back(
          {group.uid, {from, from + static_cast<std::ptrdiff_t>(count)}});
    }
  return parts;
}

/// The call of one part. `gradients` is null in a forward pass.
wanted_call make_call(const mixture_batch& batch, const expert_group& part,
                      const float* gradients) {
  const auto& rules = batch.rules;
  const std::size_t inputs = rules.inputs;
  const std::size_t outputs = rules.outputs;
  const auto rows = part.seats.size();
  auto values = std::make_shared<float_array>();
  values->resize(rows * (gradients ? inputs + outputs : inputs));
  auto* out = values->data();
  for (const auto& x : part.seats)
    out = std::copy_n(batch.inputs + x.sample * inputs, inputs, out);
  if (gradients)
    for (const auto& x : part.seats)
      out = std::copy_n(gradients + row_of(rules, x), outputs, out);
  wanted_call call;
  call.what.uid = part.uid;
  call.what.pass = gradients ? expert_pass::backward : expert_pass::forward;
  call.what.samples = static_cast<std::uint32_t>(rows);
  call.what.values = std::move(values);
  call.what.patience = rules.patience;
  call.what.packing = rules.packing;
  call.values = rows * (gradients ? inputs : outputs);
  for (const auto& x : part.seats)
    call.samples.push_back(x.sample);
  return call;
}

/// One pass; `take(seat, row)` for each row of an answer.
template <class Take>
mixture_outcome make_pass(const mixture_batch& batch, const float* gradients,
                          Take take) {
  const auto& rules = batch.rules;
  const auto parts = cut(batch);
  std::vector<wanted_call> calls;
  for (const auto& part : parts)
    calls.push_back(make_call(batch, part, gradients));
  auto called = call_together(
      batch.network, std::move(calls), batch.samples,
      {rules.k_min, rules.timeout_after_k_min, rules.patience}, batch.known);
  mixture_outcome result;
  result.answered.resize(batch.samples * rules.slots);
  result.enough = std::move(called.enough);
  result.problem = std::move(called.problem);
  const std::size_t width = gradients ? rules.inputs : rules.outputs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& answer = called.answers[i];
    result.all = result.all && !answer.empty();
    if (answer.empty())
      continue;
    const auto* row = answer.data();
    for (const auto& x : parts[i].seats) {
      result.answered[std::size_t{x.sample} * rules.slots + x.slot] = true;
      take(x, row);
      row += width;
    }
  }
  return result;
}

} // namespace

void seating::add(const std::vector<std::uint32_t>& place, const seat& x) {
  const auto [at, fresh] = index_.try_emplace(place, groups_.size());
  if (fresh)
    groups_.push_back({to_string(expert_uid{layer_, place}), {}});
  groups_[at->second].seats.push_back(x);
}

mixture_outcome forward_pass(const mixture_batch& batch, float* outputs) {
  return make_pass(batch, nullptr, [&](const seat& x, const float* row) {
    std::copy_n(row, batch.rules.outputs, outputs + row_of(batch.rules, x));
  });
}

mixture_outcome backward_pass(const mixture_batch& batch,
                              const float* gradients, float* input_gradients) {
  const std::size_t inputs = batch.rules.inputs;
  return make_pass(batch, gradients, [&](const seat& x, const float* row) {
    if (input_gradients)
      add_to(input_gradients + x.sample * inputs, row, inputs);
  });
}

} // namespace potluck
