#include "models/experts/trained_expert.hpp"

#include <cmath>
#include <stdexcept>

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include "models/flushed_denormals.hpp"
#include "models/layers.hpp"
#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

// Adam's usual constants. The rate stays the same: an expert does not know when
// its training ends.
constexpr double beta1 = 0.9;
constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

std::unique_ptr<optimizer_rule> adam_rule() {
  return unwrap(make_rule("adam", {{"beta1", print_real(beta1)},
                                   {"beta2", print_real(beta2)},
                                   {"epsilon", print_real(epsilon)},
                                   {"weight-decay", "0"}}));
}

at::Tensor flat_view(const std::vector<float>& values) {
  // LibTorch knows no constant tensors; nothing writes through this one.
  return at::from_blob(const_cast<float*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::kFloat);
}

/// Of an expert of this kind, x [samples, inputs] to [samples, outputs].
/// `parameters` are the entries of `expert_layout(kind)`, in their shapes.
///
/// "ffn" maps every token on its own: LayerNorm(x + W2 GELU(W1 x)). A
/// "transformer" is one encoder layer over a sample's tokens, with LayerNorm
/// behind each residual sum, as in models/albert; no mask, no dropout.
at::Tensor expert_outputs(const expert_kind& kind,
                          const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x) {
  parameter_reader next(parameters);
  auto samples = x.size(0);
  auto y = x.view({-1, kind.hidden}); // One row a token.
  if (kind.layer == "transformer") {
    auto qkv = next.pair();
    auto dense = next.pair();
    auto norm = next.pair();
    y = normalize(norm, y + apply(dense, attend(qkv, y, samples, kind.heads)));
  }
  auto ffn = next.pair();
  auto ffn_output = next.pair();
  auto norm = next.pair();
  next.finish();
  y = normalize(norm, y + apply(ffn_output, activate(apply(ffn, y))));
  return y.view({samples, -1});
}

void copy_out(const at::Tensor& from, float* to) {
  at::from_blob(to, {from.numel()}, at::kFloat).copy_(from.view({-1}));
}

} // namespace

trained_expert::trained_expert(const expert_kind& kind, training_state fresh,
                               at::Device device, int threads)
    : kind_(kind), layout_(expert_layout(kind)), shape_(shape_of(kind)),
      device_(device), threads_(threads),
      adam_(adam_rule(), layout_, {0, static_cast<unsigned>(threads)}) {
  adopt(fresh);
}

void trained_expert::adopt(const training_state& state) {
  auto place = [&](const std::vector<float>& x) {
    return flat_view(x).to(device_, at::kFloat, false, /*copy=*/true);
  };
  parameters_ = place(state.parameters);
  first_moment_ = place(state.first_moment);
  second_moment_ = place(state.second_moment);
  gradient_ = at::empty_like(parameters_);
  updates_ = state.step;
  leaves_.clear();
  for (auto& entry : layout_.entries())
    leaves_.push_back(parameters_
                          .narrow(0, static_cast<std::int64_t>(entry.offset),
                                  static_cast<std::int64_t>(entry.values))
                          .view(entry.shape)
                          .detach()
                          .requires_grad_(true));
}

at::Tensor trained_expert::rows(std::uint32_t samples,
                                const float* values) const {
  return at::from_blob(const_cast<float*>(values), {samples, shape_.inputs},
                       at::kFloat)
      .to(device_);
}

void trained_expert::forward(std::uint32_t samples, const float* in,
                             float* out) {
  const flushed_denormals flushed;
  at::set_num_threads(threads_); // OpenMP keeps the number per thread.
  const c10::NoGradGuard no_recording;
  copy_out(expert_outputs(kind_, leaves_, rows(samples, in)), out);
}

void trained_expert::backward(std::uint32_t samples, const float* in,
                              const float* grad_out, float* grad_in) {
  const flushed_denormals flushed; // `learn` has arithmetic of its own.
  at::set_num_threads(threads_);
  auto x = rows(samples, in).detach().requires_grad_(true);
  {
    const c10::AutoGradMode recording(true);
    for (auto& leaf : leaves_)
      leaf.mutable_grad() = at::Tensor();
    expert_outputs(kind_, leaves_, x).backward(rows(samples, grad_out));
  }
  const c10::NoGradGuard no_recording;
  copy_out(x.grad(), grad_in);
  if (!all_finite(grad_in, std::size_t{samples} * shape_.inputs))
    throw unusable_gradient();
  learn();
  for (auto& leaf : leaves_)
    leaf.mutable_grad() = at::Tensor();
}

void trained_expert::learn() {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    auto& entry = layout_.entries()[i];
    gradient_
        .narrow(0, static_cast<std::int64_t>(entry.offset),
                static_cast<std::int64_t>(entry.values))
        .copy_(leaves_[i].grad().view({-1}));
  }
  if (device_.is_cpu())
    learn_on_cpu();
  else
    learn_on_device();
  ++updates_;
}

void trained_expert::learn_on_cpu() {
  auto done = adam_.apply(
      {parameters_.data_ptr<float>(), first_moment_.data_ptr<float>(),
       second_moment_.data_ptr<float>()},
      gradient_.data_ptr<float>(), updates_ + 1, kind_.learning_rate);
  if (done != optimizer::verdict::applied)
    throw unusable_gradient();
}

void trained_expert::learn_on_device() {
  if (!(gradient_.square().sum().item<double>() <= 1e30)) // NaN is refused too.
    throw unusable_gradient();
  auto step = updates_ + 1;
  auto m_correction = 1 / (1 - exact_power(beta1, step));
  auto v_correction = 1 / (1 - exact_power(beta2, step));
  first_moment_.mul_(beta1).add_(gradient_, 1 - beta1);
  second_moment_.mul_(beta2).addcmul_(gradient_, gradient_, 1 - beta2);
  parameters_.addcdiv_(first_moment_ * m_correction,
                       (second_moment_ * v_correction).sqrt_().add_(epsilon),
                       -kind_.learning_rate);
}

std::vector<std::uint8_t> trained_expert::save() const {
  training_state state;
  state.step = updates_;
  auto fetch = [](const at::Tensor& from, std::vector<float>& to) {
    to.resize(static_cast<std::size_t>(from.numel()));
    copy_out(from, to.data());
  };
  const c10::NoGradGuard no_recording;
  fetch(parameters_, state.parameters);
  fetch(first_moment_, state.first_moment);
  fetch(second_moment_, state.second_moment);
  return expert_bytes(kind_, state);
}

void trained_expert::load(const std::vector<std::uint8_t>& bytes) {
  auto state = read_expert(kind_, bytes);
  if (!state)
    throw std::runtime_error(state.error());
  const c10::NoGradGuard no_recording;
  adopt(*state);
}

} // namespace potluck
