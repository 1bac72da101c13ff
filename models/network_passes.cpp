#include "models/network_passes.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include "models/moe/too_few_experts.hpp"

namespace potluck {

namespace {

/// Between two attempts to reach experts that do not answer.
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{2000};
/// Between two looks whether a graphics card has done a micro-batch.
constexpr std::chrono::microseconds card_pause{50};
/// A trainer without experts goes on with what it has after this.
constexpr std::chrono::seconds request_patience{5};
/// Whoever evaluates has a person waiting.
constexpr std::chrono::seconds evaluation_patience{30};

/// One where a gradient has a value that is not finite, else zero.
at::Tensor overflows(const std::vector<at::Tensor>& gradient,
                     at::Device device) {
  const auto options = at::TensorOptions(device).dtype(at::kFloat);
  auto found = at::zeros({1}, options);
  const auto unchanged = at::ones({1}, options);
  for (auto type : {at::kHalf, at::kFloat}) {
    std::vector<at::Tensor> of_type;
    for (const auto& x : gradient)
      if (x.defined() && x.scalar_type() == type)
        of_type.push_back(x);
    if (!of_type.empty())
      at::_amp_foreach_non_finite_check_and_unscale_(of_type, found, unchanged);
  }
  return found;
}

} // namespace

network_passes::network_passes(const network& model,
                               const computing_options& options,
                               model_memory* memory)
    : model_(model), options_(options), memory_(memory),
      places_(places_of(model.layout(), model.buffers())),
      buffers_(model, options.device) {
  if (options.bits == precision::fp16)
    scale_.emplace();
}

network_passes::computed
network_passes::forward(const std::vector<at::Tensor>& leaves,
                        const labelled_batch& batch,
                        std::optional<std::uint64_t> chance) const {
  const auto before = buffers_.now(leaves);
  const auto parameters = places_.size() - before.size();
  std::vector<at::Tensor> all{
      leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(parameters)};
  for (const auto& x : before)
    all.push_back(chance ? x.clone() : x);
  const model_tensors tensors(places_, std::move(all), chance);
  computed result;
  {
    const autocast_scope mixed(options_.device, options_.bits);
    result.loss = model_.loss(tensors, batch);
  }
  const c10::NoGradGuard no_recording;
  for (std::size_t i = 0; chance && i < before.size(); ++i)
    result.changes.push_back(tensors.in_order()[parameters + i] - before[i]);
  return result;
}

std::optional<network_passes::computed> network_passes::forward(
    const std::vector<at::Tensor>& leaves, const labelled_batch& batch,
    std::optional<std::uint64_t> chance, const std::atomic<bool>& cancelled,
    std::chrono::milliseconds patience) const {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (auto pause = first_pause; !cancelled;
       pause = std::min(2 * pause, longest_pause)) {
    try {
      return forward(leaves, batch, chance);
    } catch (const too_few_experts& e) {
      options_.tell(e.what());
      if (clock::now() - begin > patience)
        throw;
    }
    const auto end = clock::now() + pause;
    while (!cancelled && clock::now() < end)
      std::this_thread::sleep_for(first_pause);
  }
  return std::nullopt;
}

model_loss network_passes::look_at(const std::vector<at::Tensor>& leaves,
                                   const labelled_batch& samples) const {
  const std::atomic<bool> never{false};
  return forward(leaves, samples, std::nullopt, never, evaluation_patience)
      ->loss;
}

std::optional<network_passes::passed>
network_passes::pass(const std::vector<at::Tensor>& leaves,
                     const labelled_batch& samples, std::uint64_t count,
                     std::uint64_t chance, const std::atomic<bool>& cancelled) {
  auto output = forward(leaves, samples, chance, cancelled, request_patience);
  if (!output)
    return std::nullopt;
  passed result;
  result.count = count;
  result.changes = std::move(output->changes);
  auto loss = output->loss.sum;
  result.report = loss.detach().view({1});
  if (output->loss.regularizer.defined())
    loss = loss + output->loss.regularizer * static_cast<double>(count);
  if (memory_)
    pass_back(leaves, loss, result);
  else
    // Autograd adds to the leaves' gradients one thread at a time.
    loss.backward();
  return result;
}

void network_passes::pass_back(const std::vector<at::Tensor>& leaves,
                               at::Tensor loss, passed& result) {
  if (scale_) {
    // Of the mean loss: how large gradients are must not depend on the count.
    std::lock_guard<std::mutex> guard{busy_};
    result.scale = scale_->value() / static_cast<double>(result.count);
    loss = loss * result.scale;
  }
  auto gradient = torch::autograd::grad(
      {loss}, leaves, {}, /*retain_graph=*/false, /*create_graph=*/false,
      /*allow_unused=*/true);
  if (scale_) {
    result.report
        = at::cat({result.report, overflows(gradient, options_.device)});
    result.gradient = std::move(gradient);
  }
  if (!options_.device.is_cpu()) {
    const auto where
        = result.report.options().device(at::kCPU).pinned_memory(true);
    const auto report = at::empty(result.report.sizes(), where);
    report.copy_(result.report, /*non_blocking=*/true);
    result.report = report;
    result.reported.emplace(options_.device.type());
    result.reported->record(c10::impl::VirtualGuardImpl(options_.device.type())
                                .getStream(options_.device));
  }
  if (!scale_) {
    // Nothing fails behind it: a micro-batch is in the sum whole, or not at
    // all.
    std::lock_guard<std::mutex> guard{busy_};
    memory_->add(gradient, 1);
  }
}

std::optional<double>
network_passes::settle(const std::vector<at::Tensor>& leaves, const passed& x) {
  while (x.reported && !x.reported->query())
    std::this_thread::sleep_for(card_pause);
  std::lock_guard<std::mutex> guard{busy_};
  if (scale_ && x.report[1].item<float>() != 0) {
    overflow(x.count);
    return std::nullopt;
  }
  if (scale_) {
    memory_->add(x.gradient, 1 / x.scale);
    scale_->fitted();
  }
  settle_buffers(leaves, x);
  return x.report[0].item<double>();
}

void network_passes::settle_buffers(const std::vector<at::Tensor>& leaves,
                                    const passed& x) {
  const auto of_run = buffers_.settle(x.changes);
  if (of_run.empty())
    return;
  const auto factor = -static_cast<double>(x.count);
  if (memory_) {
    memory_->add(of_run, factor);
    return;
  }
  for (std::size_t i = 0; i < of_run.size(); ++i)
    if (of_run[i].defined())
      leaves[i].grad().add_(of_run[i], factor);
}

void network_passes::overflow(std::uint64_t samples) {
  if (!scale_->overflowed())
    throw std::runtime_error(
        "Gradients overflow in fp16 however small the loss is made: choose "
        "--precision bf16 or float32.");
  options_.tell("A micro-batch of " + std::to_string(samples)
                + " samples overflowed in fp16 and is left out; losses are "
                  "scaled by "
                + std::to_string(static_cast<long>(scale_->value()))
                + " from now on.");
}

} // namespace potluck
