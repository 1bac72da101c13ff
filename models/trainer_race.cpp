#include "models/trainer_race.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>

#include "models/catalogue.hpp"
#include "models/device.hpp"
#include "models/flushed_denormals.hpp"
#include "models/model_kinds.hpp"
#include "models/network_trainer.hpp"
#include "models/tensor_memory.hpp"
#include "models/text/text_source.hpp"
#include "models/text/tokenizer.hpp"
#include "runtime/random.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t order_seed = 1;
constexpr std::size_t text_tokens = 1'000'000;
/// Of the bare loop in fp16: one that fits.
constexpr double fixed_scale = 4096;

double since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

/// Of the parameters of this number.
digest state_named(std::uint64_t number) {
  return digest_of(&number, sizeof number);
}

computing_options options_of(const race_workload& what) {
  computing_options how;
  how.device = choose_device(what.device);
  how.bits = choose_precision(what.precision, how.device);
  how.threads = choose_threads(what.threads);
  how.micro_batch = what.micro_batch;
  how.notice = what.notice;
  return how;
}

} // namespace

struct trainer_race::contest {
  /// A model of text.
  struct text_model {
    model_kind what;
    setting_kind declared;
    run_settings run;

    explicit text_model(const run_settings& settings)
        : what(settings.model == "gpt" ? gpt_kind() : albert_kind()),
          declared(declared_by(what)), run(settings) {
      if (run.model != what.name)
        throw std::runtime_error("there is no race for the model " + run.model);
    }

    kind_settings settings() const {
      return {declared, run};
    }
    std::unique_ptr<network> make_network() const {
      return what.build(settings(), {});
    }
    std::unique_ptr<sample_source> make_samples() const {
      const auto vocabulary = settings().small("vocabulary");
      const auto length = settings().small("sequence-length");
      random_stream chance(7);
      std::vector<std::int32_t> text(text_tokens);
      for (auto& token : text)
        token = static_cast<std::int32_t>(
            special_token::count
            + chance.below(vocabulary - special_token::count));
      if (run.model == "gpt")
        return make_next_token_source(
            token_windows(std::move(text), length, vocabulary));
      return make_masked_source(
          sample_stream(std::move(text), length, vocabulary,
                        settings().real("mask-probability")));
    }
  };

  computing_options how;
  text_model raced;
  std::unique_ptr<network> model;
  std::unique_ptr<sample_source> samples;
  std::uint32_t micro_batch;
  std::vector<float> parameters, gradient;
  network_trainer trainer;
  std::uint64_t number = 0;       ///< Of the parameters.
  std::uint64_t next = 0;         ///< Sample.
  std::vector<at::Tensor> leaves; ///< The bare loop's.
  tensor_places places;

  explicit contest(const race_workload& what)
      : how(options_of(what)), raced(what.settings),
        model(raced.make_network()), samples(raced.make_samples()),
        micro_batch(what.micro_batch != 0
                        ? what.micro_batch
                        : static_cast<std::uint32_t>(
                            samples->usual_micro_batch(how.device))),
        parameters(initial_state(model->layout(), 1).parameters),
        gradient(parameters.size()),
        trainer(raced.make_network(), raced.make_samples(), how) {
    places = places_of(model->layout(), {});
    const auto flat = flat_view(parameters.data(), parameters.size());
    for (const auto& part : split(model->layout(), flat))
      leaves.push_back(
          part.to(how.device, at::kFloat, false, true).requires_grad_(true));
  }

  void bare_pass(std::uint64_t first, std::uint32_t count, at::Tensor& losses) {
    const auto batch = samples->gather(sample_part::training, order_seed, first,
                                       1, count, how.device);
    const model_tensors tensors(places, leaves, first);
    at::Tensor loss;
    {
      const autocast_scope mixed(how.device, how.bits);
      loss = model->loss(tensors, batch).sum;
    }
    losses += loss.detach();
    if (how.bits == precision::fp16)
      loss = loss * (fixed_scale / count);
    loss.backward();
  }
};

trainer_race::trainer_race(const race_workload& what) {
  const auto problem = problem_with_device(what.device);
  if (!problem.empty())
    throw std::runtime_error(problem);
  limit_interop_threads();
  recycle_tensor_memory();
  it_ = std::make_unique<contest>(what);
}

trainer_race::~trainer_race() = default;

std::uint64_t trainer_race::parameters() const {
  return it_->parameters.size();
}

double trainer_race::trainer_step(std::uint32_t samples) {
  auto& x = *it_;
  const std::atomic<bool> never{false};
  std::fill(x.gradient.begin(), x.gradient.end(), 0.0f);
  const auto began = clock::now();
  ++x.number;
  for (std::uint32_t done = 0; done < samples;) {
    batch_request request;
    request.order_seed = order_seed;
    request.first_sample = x.next;
    request.samples = std::min(samples - done, x.trainer.usual_request());
    request.state = state_named(x.number);
    x.trainer.accumulate(request, x.parameters.data(), x.gradient.data(),
                         never);
    done += request.samples;
    x.next += request.samples;
  }
  x.trainer.collect(x.gradient.data());
  return since(began);
}

double trainer_race::bare_step(std::uint32_t samples) {
  auto& x = *it_;
  const flushed_denormals flushed;
  at::set_num_threads(x.how.threads);
  c10::OptionalDeviceGuard here;
  if (!x.how.device.is_cpu())
    here.reset_device(x.how.device);
  const c10::AutoGradMode recording(true);
  const auto began = clock::now();
  auto losses
      = at::zeros({}, at::TensorOptions(x.how.device).dtype(at::kFloat));
  for (auto& leaf : x.leaves)
    leaf.mutable_grad() = at::Tensor();
  for (std::uint32_t done = 0; done < samples;) {
    const auto count = std::min(samples - done, x.micro_batch);
    x.bare_pass(x.next, count, losses);
    done += count;
    x.next += count;
  }
  losses.item<float>(); // Waits for the device.
  return since(began);
}

} // namespace potluck
