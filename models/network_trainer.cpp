#include "models/network_trainer.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <thread>

#include <c10/core/GradMode.h>

#include "models/device.hpp"
#include "models/label_weights.hpp"
#include "models/moe/too_few_experts.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Micro-batches of a request to a graphics card: between two requests it
/// waits.
constexpr std::uint64_t card_request = 8;
/// So that chance within a pass is other than that of which samples it takes.
constexpr std::uint64_t chance_purpose = 0x64726F70;

computing_options completed(computing_options options) {
  options.threads = choose_threads(options.threads);
  return options;
}

/// Null: gradients go to the caller's vectors.
std::unique_ptr<model_memory> memory_for(const model_layout& layout,
                                         const computing_options& options) {
  if (options.device.is_cpu() && options.bits == precision::float32)
    return nullptr;
  const computing_thread here(options);
  try {
    return std::make_unique<model_memory>(layout, options.device, options.bits);
  } catch (const std::exception& e) {
    if (!is_out_of_memory(e))
      throw;
    const auto needed = model_memory::bytes(layout, options.bits);
    throw std::runtime_error(
        "The device " + options.device.str()
        + " has no room for this model, whose parameters and gradient alone "
          "take "
        + std::to_string(needed / 1'000'000 + 1)
        + "MB: choose another with --device, or end what else computes on it.");
  }
}

} // namespace

struct network_trainer::micro_batch {
  std::uint64_t first = 0; ///< In the request.
  std::uint64_t count = 0;
  labelled_batch samples;
  std::uint64_t chance = 0; ///< What is drawn by chance follows from it.
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
    : model_(std::move(model)), samples_(std::move(samples)),
      options_(completed(std::move(options))),
      micro_batch_(options_.micro_batch != 0
                       ? options_.micro_batch
                       : samples_->usual_micro_batch(options_.device)),
      memory_(memory_for(model_->layout(), options_)),
      passes_(*model_, options_, memory_.get()) {
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
  try {
    return passes_.pass(work.leaves, x.samples, x.count, x.chance,
                        work.cancelled);
  } catch (const too_few_experts&) {
    // Said already; whoever asked for the samples has other work meanwhile.
    work.given_up = true;
    return std::nullopt;
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
  const auto loss = passes_.settle(work.leaves, x);
  if (const auto before = too_large_.exchange(0))
    options_.tell("The device " + options_.device.str()
                  + " has too little memory for " + std::to_string(before)
                  + " samples at once: " + std::to_string(micro_batch_)
                  + " are computed from now on.");
  if (!loss)
    return;
  std::lock_guard<std::mutex> guard{work.busy};
  work.result.loss_sum += *loss;
  work.result.samples += static_cast<std::uint32_t>(x.count);
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
    const auto found = passes_.look_at(leaves, batch);
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
