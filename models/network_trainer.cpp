#include "models/network_trainer.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

namespace potluck {

namespace {

/// Tokens of a micro-batch that is chosen by us. On CPUs the activations of
/// more fall out of the cache; GPUs want more to be busy.
constexpr std::uint64_t cpu_tokens = 2048;
constexpr std::uint64_t gpu_tokens = 32768;

at::Tensor flat_view(const float* values, std::uint64_t count) {
  // LibTorch knows no constant tensors; nothing writes through this one.
  return at::from_blob(const_cast<float*>(values),
                       {static_cast<std::int64_t>(count)}, at::kFloat);
}

/// Cross entropy of each chosen token, weighed: its sum is the samples' losses.
at::Tensor loss_sum(const at::Tensor& scores, const masked_batch& batch) {
  auto each
      = at::cross_entropy_loss(scores, batch.labels, {}, at::Reduction::None);
  return (each * batch.weights).sum();
}

} // namespace

network_trainer::network_trainer(std::unique_ptr<network> model,
                                 sample_stream stream, at::Device device,
                                 int threads, std::uint32_t micro_batch)
    : model_(std::move(model)), stream_(std::move(stream)), device_(device),
      threads_(threads), micro_batch_(micro_batch) {
  if (threads_ <= 0)
    threads_
        = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (micro_batch_ == 0) {
    const auto length = stream_.sample(0, 0).tokens.size();
    const auto tokens = device_.is_cpu() ? cpu_tokens : gpu_tokens;
    micro_batch_ = std::max<std::uint64_t>(1, tokens / length);
  }
}

masked_batch network_trainer::gather(std::uint64_t order_seed,
                                     std::uint64_t first, std::uint64_t stride,
                                     std::uint64_t count) const {
  std::vector<std::int64_t> tokens, positions, labels;
  std::vector<float> weights;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto x = stream_.sample(order_seed, first + i * stride);
    for (auto position : x.positions)
      positions.push_back(static_cast<std::int64_t>(tokens.size() + position));
    tokens.insert(tokens.end(), x.tokens.begin(), x.tokens.end());
    labels.insert(labels.end(), x.labels.begin(), x.labels.end());
    weights.insert(weights.end(), x.labels.size(),
                   1.0f / static_cast<float>(x.labels.size()));
  }
  auto place = [&](auto& values, at::ScalarType type) {
    const auto size = static_cast<std::int64_t>(values.size());
    return at::from_blob(values.data(), {size}, type)
        .to(device_, type, /*non_blocking=*/false, /*copy=*/true);
  };
  masked_batch result;
  result.tokens
      = place(tokens, at::kLong).view({static_cast<std::int64_t>(count), -1});
  result.positions = place(positions, at::kLong);
  result.labels = place(labels, at::kLong);
  result.weights = place(weights, at::kFloat);
  return result;
}

std::vector<at::Tensor> network_trainer::split(const at::Tensor& flat) const {
  std::vector<at::Tensor> result;
  for (const auto& entry : layout().entries())
    result.push_back(flat.narrow(0, static_cast<std::int64_t>(entry.offset),
                                 static_cast<std::int64_t>(entry.values))
                         .view(entry.shape)
                         .detach());
  return result;
}

batch_result network_trainer::accumulate(const batch_request& request,
                                         const float* parameters,
                                         float* gradient,
                                         const std::atomic<bool>& cancelled) {
  // OpenMP keeps the number per calling thread.
  at::set_num_threads(threads_);
  const c10::AutoGradMode recording(true);
  const auto values = layout().values();
  const auto flat = flat_view(parameters, values).to(device_);
  const auto host_sum = flat_view(gradient, values);
  const auto sum = device_.is_cpu() ? host_sum : at::zeros_like(flat);
  auto leaves = split(flat);
  const auto sums = split(sum);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].requires_grad_(true);
    // Autograd adds to a gradient that is there, in place.
    leaves[i].mutable_grad() = sums[i];
  }

  batch_result result;
  while (result.samples < request.samples && !cancelled) {
    const auto count = std::min<std::uint64_t>(
        micro_batch_, request.samples - result.samples);
    const auto batch = gather(
        request.order_seed,
        request.first_sample + std::uint64_t{result.samples} * request.stride,
        request.stride, count);
    auto loss = loss_sum(model_->scores(leaves, batch), batch);
    loss.backward();
    result.loss_sum += loss.item<double>();
    result.samples += static_cast<std::uint32_t>(count);
  }

  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].grad().data_ptr() != sums[i].data_ptr())
      throw std::logic_error("autograd has replaced a gradient's memory");
  if (!device_.is_cpu())
    host_sum.add_(sum.cpu());
  return result;
}

evaluation network_trainer::evaluate(const float* parameters,
                                     std::uint64_t order_seed,
                                     std::uint64_t samples) {
  at::set_num_threads(threads_);
  const c10::NoGradGuard no_recording;
  const auto leaves
      = split(flat_view(parameters, layout().values()).to(device_));
  evaluation result;
  std::int64_t chosen = 0;
  std::int64_t right = 0;
  while (result.samples < samples) {
    const auto count
        = std::min<std::uint64_t>(micro_batch_, samples - result.samples);
    const auto batch = gather(order_seed, result.samples, 1, count);
    const auto scores = model_->scores(leaves, batch);
    result.loss += loss_sum(scores, batch).item<double>();
    right += scores.argmax(-1).eq(batch.labels).sum().item<std::int64_t>();
    chosen += batch.labels.numel();
    result.samples += count;
  }
  if (samples > 0) {
    result.loss /= static_cast<double>(samples);
    result.token_accuracy
        = static_cast<double>(right) / static_cast<double>(chosen);
  }
  return result;
}

} // namespace potluck
