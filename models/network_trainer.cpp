#include "models/network_trainer.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include "models/flushed_denormals.hpp"
#include "models/moe/too_few_experts.hpp"

namespace potluck {

namespace {

/// Between two attempts to reach experts that do not answer.
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{2000};
/// A trainer without experts goes on with what it has after this.
constexpr std::chrono::seconds request_patience{5};
/// Whoever evaluates has a person waiting.
constexpr std::chrono::seconds evaluation_patience{30};

at::Tensor flat_view(const float* values, std::uint64_t count) {
  // LibTorch knows no constant tensors; nothing writes through this one.
  return at::from_blob(const_cast<float*>(values),
                       {static_cast<std::int64_t>(count)}, at::kFloat);
}

/// Cross entropy of each label, weighed: its sum is the samples' losses.
at::Tensor loss_sum(const at::Tensor& scores, const labelled_batch& batch) {
  auto each
      = at::cross_entropy_loss(scores, batch.labels, {}, at::Reduction::None);
  return (each * batch.weights).sum();
}

} // namespace

/// What the threads of one request share.
struct network_trainer::shared_work {
  const batch_request& request;
  const std::vector<at::Tensor>& leaves;
  const std::atomic<bool>& cancelled;

  std::mutex busy;
  std::uint64_t given_out = 0; ///< Samples of micro-batches that were taken.
  batch_result result;
  std::exception_ptr failed;
};

network_trainer::network_trainer(std::unique_ptr<network> model,
                                 std::unique_ptr<sample_source> samples,
                                 computing_options options)
    : model_(std::move(model)), samples_(std::move(samples)),
      options_(std::move(options)), micro_batch_(options_.micro_batch) {
  if (options_.threads <= 0)
    options_.threads
        = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (micro_batch_ == 0)
    micro_batch_ = samples_->usual_micro_batch(options_.device);
}

std::uint32_t network_trainer::usual_request() const {
  return options_.in_flight == 1
             ? trainer::usual_request()
             : static_cast<std::uint32_t>(micro_batch_ * options_.in_flight);
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

std::optional<network_output>
network_trainer::forward(const std::vector<at::Tensor>& leaves,
                         const labelled_batch& batch,
                         const std::atomic<bool>& cancelled,
                         std::chrono::milliseconds patience) const {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  for (auto pause = first_pause; !cancelled;
       pause = std::min(2 * pause, longest_pause)) {
    try {
      return model_->forward(leaves, batch);
    } catch (const too_few_experts& e) {
      if (options_.notice)
        options_.notice(e.what());
      if (clock::now() - begin > patience)
        throw;
    }
    const auto end = clock::now() + pause;
    while (!cancelled && clock::now() < end)
      std::this_thread::sleep_for(first_pause);
  }
  return std::nullopt;
}

void network_trainer::compute_micro_batch(shared_work& work,
                                          std::uint64_t first,
                                          std::uint64_t count) const {
  const auto& request = work.request;
  const auto batch
      = samples_->gather(sample_part::training, request.order_seed,
                         request.first_sample + first * request.stride,
                         request.stride, count, options_.device);
  std::optional<network_output> output;
  try {
    output = forward(work.leaves, batch, work.cancelled, request_patience);
  } catch (const too_few_experts&) {
    // Said already; whoever asked for the samples has other work meanwhile.
    std::lock_guard<std::mutex> guard{work.busy};
    work.given_out = work.request.samples;
  }
  if (!output)
    return;
  auto loss = loss_sum(output->scores, batch);
  const auto loss_of_samples = loss.item<double>();
  if (output->regularizer.defined())
    loss = loss + output->regularizer * static_cast<double>(count);
  // Autograd adds to the leaves' gradients one thread at a time.
  loss.backward();
  std::lock_guard<std::mutex> guard{work.busy};
  work.result.loss_sum += loss_of_samples;
  work.result.samples += static_cast<std::uint32_t>(count);
}

void network_trainer::work_off(shared_work& work) const {
  // OpenMP's threads begin as the one that needs them first, and keep the
  // number per calling thread.
  const flushed_denormals flushed;
  at::set_num_threads(options_.threads);
  const c10::AutoGradMode recording(true);
  try {
    while (!work.cancelled) {
      std::uint64_t first = 0;
      std::uint64_t count = 0;
      {
        std::lock_guard<std::mutex> guard{work.busy};
        first = work.given_out;
        count = std::min<std::uint64_t>(micro_batch_,
                                        work.request.samples - first);
        work.given_out += count;
        if (count == 0 || work.failed)
          return;
      }
      compute_micro_batch(work, first, count);
    }
  } catch (...) {
    std::lock_guard<std::mutex> guard{work.busy};
    if (!work.failed)
      work.failed = std::current_exception();
  }
}

batch_result network_trainer::accumulate(const batch_request& request,
                                         const float* parameters,
                                         float* gradient,
                                         const std::atomic<bool>& cancelled) {
  const auto values = layout().values();
  const auto device = options_.device;
  const auto flat = flat_view(parameters, values).to(device);
  const auto host_sum = flat_view(gradient, values);
  const auto sum = device.is_cpu() ? host_sum : at::zeros_like(flat);
  auto leaves = split(flat);
  const auto sums = split(sum);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    leaves[i].requires_grad_(true);
    // Autograd adds to a gradient that is there, in place.
    leaves[i].mutable_grad() = sums[i];
  }

  shared_work work{request, leaves, cancelled, {}, 0, {}, {}};
  const auto batches = (request.samples + micro_batch_ - 1) / micro_batch_;
  std::vector<std::thread> others;
  for (std::uint64_t i = 1;
       i < std::min<std::uint64_t>(options_.in_flight, batches); ++i)
    others.emplace_back([&] { work_off(work); });
  work_off(work);
  for (auto& x : others)
    x.join();
  if (work.failed)
    std::rethrow_exception(work.failed);

  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].grad().data_ptr() != sums[i].data_ptr())
      throw std::logic_error("autograd has replaced a gradient's memory");
  if (!device.is_cpu())
    host_sum.add_(sum.cpu());
  return work.result;
}

evaluation network_trainer::evaluate(const float* parameters,
                                     std::uint64_t order_seed,
                                     std::uint64_t samples) {
  const flushed_denormals flushed;
  at::set_num_threads(options_.threads);
  const c10::NoGradGuard no_recording;
  const auto leaves
      = split(flat_view(parameters, layout().values()).to(options_.device));
  const std::atomic<bool> never{false};
  evaluation result;
  std::int64_t chosen = 0;
  std::int64_t right = 0;
  while (result.samples < samples) {
    const auto count
        = std::min<std::uint64_t>(micro_batch_, samples - result.samples);
    const auto batch
        = samples_->gather(sample_part::evaluation, order_seed, result.samples,
                           1, count, options_.device);
    const auto scores
        = forward(leaves, batch, never, evaluation_patience)->scores;
    result.loss += loss_sum(scores, batch).item<double>();
    right += scores.argmax(-1).eq(batch.labels).sum().item<std::int64_t>();
    chosen += batch.labels.numel();
    result.samples += count;
  }
  if (samples > 0) {
    result.loss /= static_cast<double>(samples);
    result.accuracy = static_cast<double>(right) / static_cast<double>(chosen);
  }
  return result;
}

} // namespace potluck
