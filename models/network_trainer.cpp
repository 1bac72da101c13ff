#include "models/network_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <stdexcept>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include "models/device.hpp"
#include "models/flushed_denormals.hpp"
#include "models/moe/too_few_experts.hpp"
#include "runtime/random.hpp"

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
/// Micro-batches of a request to a graphics card: between two requests it
/// waits.
constexpr std::uint64_t card_request = 8;
/// So that chance within a pass is other than that of which samples it takes.
constexpr std::uint64_t chance_purpose = 0x64726F70;

/// What a trainer's call needs of its thread.
struct computing_thread {
  explicit computing_thread(const computing_options& options) {
    at::set_num_threads(options.threads);
    if (!options.device.is_cpu())
      card.reset_device(options.device);
  }

  // OpenMP's threads begin as the one that needs them first, and keep the
  // number per calling thread.
  const flushed_denormals flushed;
  c10::OptionalDeviceGuard card;
};

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

/// How often each label occurs, each as much as it counts in the loss.
class label_weights {
public:
  void add(const labelled_batch& batch) {
    const auto labels = batch.labels.to(at::kCPU).to(at::kLong).contiguous();
    const auto weights = batch.weights.to(at::kCPU).to(at::kFloat).contiguous();
    const auto* label = labels.data_ptr<std::int64_t>();
    const auto* weight = weights.data_ptr<float>();
    for (std::int64_t i = 0; i < labels.numel(); ++i) {
      of_[label[i]] += weight[i];
      all_ += weight[i];
    }
  }

  double entropy() const {
    double result = 0;
    for (const auto& [label, weight] : of_)
      if (weight > 0)
        result -= weight / all_ * std::log(weight / all_);
    return result;
  }

private:
  std::map<std::int64_t, double> of_;
  double all_ = 0;
};

} // namespace

struct network_trainer::micro_batch {
  std::uint64_t first = 0; ///< In the request.
  std::uint64_t count = 0;
  labelled_batch samples;
  std::uint64_t chance = 0; ///< What is drawn by chance follows from it.
};

struct network_trainer::computed {
  model_loss loss;
  /// Of each buffer; none of an evaluation.
  std::vector<at::Tensor> changes;
};

struct network_trainer::passed {
  std::uint64_t count = 0;
  /// The loss; in fp16 also whether a gradient overflowed. In the processor's
  /// memory, when the device has come as far.
  at::Tensor report;
  std::optional<c10::Event> reported; ///< Of another device than the processor.
  double scale = 1;                   ///< What `gradient` is too large by.
  std::vector<at::Tensor> gradient;   ///< In fp16, to be added.
  std::vector<at::Tensor> changes;    ///< Of buffers.
};

struct network_trainer::shared_work {
  const batch_request& request;
  const std::vector<at::Tensor>& leaves;
  const std::atomic<bool>& cancelled;

  std::mutex busy;
  std::uint64_t given_out = 0; ///< Samples of micro-batches that were taken.
  batch_result result;
  std::exception_ptr failed;
  std::atomic<bool> given_up{false}; ///< Experts are missing.
};

network_trainer::network_trainer(std::unique_ptr<network> model,
                                 std::unique_ptr<sample_source> samples,
                                 computing_options options)
    : model_(std::move(model)),
      places_(places_of(model_->layout(), model_->buffers())),
      buffers_(*model_, options.device), samples_(std::move(samples)),
      options_(std::move(options)), micro_batch_(options_.micro_batch) {
  options_.threads = choose_threads(options_.threads);
  if (micro_batch_ == 0)
    micro_batch_ = samples_->usual_micro_batch(options_.device);
  if (options_.bits == precision::fp16)
    scale_.emplace();
  if (options_.device.is_cpu() && options_.bits == precision::float32)
    return;
  const computing_thread here(options_);
  try {
    memory_ = std::make_unique<model_memory>(layout(), options_.device,
                                             options_.bits);
  } catch (const std::exception& e) {
    if (!is_out_of_memory(e))
      throw;
    const auto needed = model_memory::bytes(layout(), options_.bits);
    throw std::runtime_error(
        "The device " + options_.device.str()
        + " has no room for this model, whose parameters and gradient alone "
          "take "
        + std::to_string(needed / 1'000'000 + 1)
        + "MB: choose another with --device, or end what else computes on it.");
  }
}

std::uint32_t network_trainer::usual_request() const {
  if (!options_.device.is_cpu())
    return static_cast<std::uint32_t>(
        micro_batch_
        * std::max<std::uint64_t>(card_request, options_.in_flight));
  const auto at_once
      = static_cast<std::uint32_t>(micro_batch_ * options_.in_flight);
  return options_.in_flight == 1 ? std::max(trainer::usual_request(), at_once)
                                 : at_once;
}

void network_trainer::tell(const std::string& sentence) const {
  if (options_.notice)
    options_.notice(sentence);
}

network_trainer::computed
network_trainer::forward(const std::vector<at::Tensor>& leaves,
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
    result.loss = model_->loss(tensors, batch);
  }
  const c10::NoGradGuard no_recording;
  for (std::size_t i = 0; chance && i < before.size(); ++i)
    result.changes.push_back(tensors.in_order()[parameters + i] - before[i]);
  return result;
}

std::optional<network_trainer::computed> network_trainer::forward(
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
      tell(e.what());
      if (clock::now() - begin > patience)
        throw;
    }
    const auto end = clock::now() + pause;
    while (!cancelled && clock::now() < end)
      std::this_thread::sleep_for(first_pause);
  }
  return std::nullopt;
}

network_trainer::micro_batch
network_trainer::gather(const shared_work& work, std::uint64_t first,
                        std::uint64_t count) const {
  const auto& request = work.request;
  const auto number = request.first_sample + first * request.stride;
  return {first, count,
          samples_->gather(sample_part::training, request.order_seed, number,
                           request.stride, count, options_.device),
          mix(mix(request.order_seed, chance_purpose), number)};
}

std::optional<network_trainer::micro_batch>
network_trainer::take(shared_work& work) const {
  std::unique_lock<std::mutex> guard{work.busy};
  const auto first = work.given_out;
  const auto count
      = std::min<std::uint64_t>(micro_batch_, work.request.samples - first);
  if (count == 0 || work.cancelled || work.given_up || work.failed)
    return std::nullopt;
  work.given_out += count;
  guard.unlock();
  return gather(work, first, count);
}

std::optional<network_trainer::passed>
network_trainer::pass(shared_work& work, const micro_batch& x) {
  std::optional<computed> output;
  try {
    output = forward(work.leaves, x.samples, x.chance, work.cancelled,
                     request_patience);
  } catch (const too_few_experts&) {
    // Said already; whoever asked for the samples has other work meanwhile.
    work.given_up = true;
  }
  if (!output)
    return std::nullopt;
  passed result;
  result.count = x.count;
  result.changes = std::move(output->changes);
  auto loss = output->loss.sum;
  result.report = loss.detach().view({1});
  if (output->loss.regularizer.defined())
    loss = loss + output->loss.regularizer * static_cast<double>(x.count);
  if (memory_)
    pass_back(work, loss, result);
  else
    // Autograd adds to the leaves' gradients one thread at a time.
    loss.backward();
  return result;
}

void network_trainer::pass_back(shared_work& work, at::Tensor loss,
                                passed& result) {
  if (scale_) {
    // Of the mean loss: how large gradients are must not depend on the count.
    std::lock_guard<std::mutex> guard{work.busy};
    result.scale = scale_->value() / static_cast<double>(result.count);
    loss = loss * result.scale;
  }
  auto gradient = torch::autograd::grad(
      {loss}, work.leaves, {}, /*retain_graph=*/false, /*create_graph=*/false,
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
    std::lock_guard<std::mutex> guard{work.busy};
    memory_->add(gradient, 1);
  }
}

void network_trainer::shrink(std::uint64_t samples) {
  if (samples == 1)
    throw std::runtime_error(
        "The device " + options_.device.str()
        + " has too little memory for one sample of this model: choose "
          "another with --device, try --precision bf16, or end what else "
          "computes on it.");
  if (samples > micro_batch_)
    return; // Another thread has seen it.
  if (too_large_ == 0)
    too_large_ = samples;
  micro_batch_ = samples / 2;
}

std::vector<network_trainer::passed>
network_trainer::compute(shared_work& work, const micro_batch& x) {
  try {
    std::vector<passed> result;
    if (auto one = pass(work, x))
      result.push_back(std::move(*one));
    return result;
  } catch (const std::exception& e) {
    if (!memory_ || !is_out_of_memory(e))
      throw;
  }
  // What the failed passes held is free by now.
  shrink(x.count);
  const auto half = x.count / 2;
  auto result = compute(work, gather(work, x.first, half));
  for (auto& more : compute(work, gather(work, x.first + half, x.count - half)))
    result.push_back(std::move(more));
  return result;
}

void network_trainer::settle(shared_work& work, const passed& x) {
  while (x.reported && !x.reported->query())
    std::this_thread::sleep_for(card_pause);
  if (const auto before = too_large_.exchange(0))
    tell("The device " + options_.device.str() + " has too little memory for "
         + std::to_string(before) + " samples at once: "
         + std::to_string(micro_batch_) + " are computed from now on.");
  std::lock_guard<std::mutex> guard{work.busy};
  if (scale_ && x.report[1].item<float>() != 0) {
    overflow(x.count);
    return;
  }
  if (scale_) {
    memory_->add(x.gradient, 1 / x.scale);
    scale_->fitted();
  }
  settle_buffers(work, x);
  work.result.loss_sum += x.report[0].item<double>();
  work.result.samples += static_cast<std::uint32_t>(x.count);
}

void network_trainer::settle_buffers(shared_work& work, const passed& x) {
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
      work.leaves[i].grad().add_(of_run[i], factor);
}

void network_trainer::overflow(std::uint64_t samples) {
  if (!scale_->overflowed())
    throw std::runtime_error(
        "Gradients overflow in fp16 however small the loss is made: choose "
        "--precision bf16 or float32.");
  tell("A micro-batch of " + std::to_string(samples)
       + " samples overflowed in fp16 and is left out; losses are scaled by "
       + std::to_string(static_cast<long>(scale_->value())) + " from now on.");
}

void network_trainer::work_off(shared_work& work) {
  const computing_thread here(options_);
  const c10::AutoGradMode recording(true);
  try {
    // A device has two micro-batches before it: it never waits for the first to
    // be settled.
    std::vector<passed> before;
    auto next = take(work);
    while (next && !work.given_up) {
      auto done = compute(work, *next);
      next = take(work);
      std::swap(before, done);
      for (const auto& x : done)
        settle(work, x);
    }
    for (const auto& x : before)
      settle(work, x);
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
  std::unique_lock<std::mutex> alone{memory_busy_, std::defer_lock};
  std::vector<at::Tensor> leaves, sums;
  if (memory_) {
    alone.lock();
    const computing_thread here(options_);
    memory_->set_parameters(parameters, request.state);
    leaves = memory_->tensors();
  } else {
    leaves = split(layout(), flat_view(parameters, layout().values()));
    sums = split(layout(), flat_view(gradient, layout().values()));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].requires_grad_(true);
      // Autograd adds to a gradient that is there, in place.
      leaves[i].mutable_grad() = sums[i];
    }
  }

  shared_work work{request, leaves, cancelled, {}, 0, {}, {}, {}};
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

  for (std::size_t i = 0; i < sums.size(); ++i)
    if (leaves[i].grad().data_ptr() != sums[i].data_ptr())
      throw std::logic_error("autograd has replaced a gradient's memory");
  return work.result;
}

void network_trainer::collect(float* gradient) {
  if (!memory_)
    return;
  std::lock_guard<std::mutex> alone{memory_busy_};
  const computing_thread here(options_);
  memory_->collect(gradient);
}

void network_trainer::drop() {
  if (!memory_)
    return;
  std::lock_guard<std::mutex> alone{memory_busy_};
  const computing_thread here(options_);
  memory_->drop();
}

evaluation network_trainer::evaluate(const float* parameters,
                                     std::uint64_t order_seed,
                                     std::uint64_t samples) {
  const computing_thread here(options_);
  const c10::NoGradGuard no_recording;
  std::unique_lock<std::mutex> alone{memory_busy_, std::defer_lock};
  std::vector<at::Tensor> leaves;
  if (memory_) {
    alone.lock();
    memory_->set_parameters(parameters, {});
    leaves = memory_->tensors();
  } else {
    leaves = split(layout(), flat_view(parameters, layout().values()));
  }
  const std::atomic<bool> never{false};
  evaluation result;
  std::int64_t predicted = 0;
  std::int64_t right = 0;
  label_weights seen;
  while (result.samples < samples) {
    const auto count
        = std::min<std::uint64_t>(micro_batch_, samples - result.samples);
    const auto batch
        = samples_->gather(sample_part::evaluation, order_seed, result.samples,
                           1, count, options_.device);
    const auto found
        = forward(leaves, batch, std::nullopt, never, evaluation_patience)
              ->loss;
    result.loss += found.sum.item<double>();
    if (found.right.defined()) {
      right += found.right.sum().item<std::int64_t>();
      predicted += found.right.numel();
      if (batch.labels.defined() && batch.weights.defined())
        seen.add(batch);
    }
    result.samples += count;
  }
  if (samples > 0)
    result.loss /= static_cast<double>(samples);
  if (predicted > 0)
    result.accuracy
        = static_cast<double>(right) / static_cast<double>(predicted);
  result.unigram = seen.entropy();
  return result;
}

} // namespace potluck
