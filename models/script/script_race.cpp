#include "models/script/script_race.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <ATen/Parallel.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include "models/device.hpp"
#include "models/flushed_denormals.hpp"
#include "models/script/founding_script.hpp"
#include "models/script/script_batch.hpp"
#include "models/script/script_trainer.hpp"
#include "models/tensor_memory.hpp"
#include "models/text/text_source.hpp"
#include "models/text/tokenizer.hpp"
#include "runtime/random.hpp"
#include "runtime/state/layout_text.hpp"

namespace potluck {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t order_seed = 1;
constexpr std::uint32_t vocabulary = 2000;
constexpr std::uint32_t sequence_length = 64;
constexpr std::size_t text_tokens = 1'000'000;

double since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

std::unique_ptr<sample_source> drawn_text() {
  random_stream chance(7);
  std::vector<std::int32_t> text(text_tokens);
  for (auto& token : text)
    token = static_cast<std::int32_t>(
        special_token::count + chance.below(vocabulary - special_token::count));
  return make_next_token_source(
      token_windows(std::move(text), sequence_length, vocabulary));
}

founding_script read(const std::string& path) {
  auto result = read_founding_script(path);
  if (!result)
    throw std::runtime_error(result.error());
  return std::move(*result);
}

} // namespace

struct script_race::contest {
  int threads;
  founding_script founded;
  std::vector<std::string> inputs;
  std::unique_ptr<sample_source> samples;
  script_trainer trainer;
  std::uint32_t micro_batch;
  std::vector<float> gradient;
  torch::jit::Module module;
  std::uint64_t number = 0; ///< Of the parameters.
  std::uint64_t next = 0;   ///< Sample.

  contest(const std::string& path, int wanted)
      : threads(choose_threads(wanted)), founded(read(path)),
        inputs(split_inputs(founded.inputs)), samples(drawn_text()),
        trainer(script_of(charter{run_settings{}, founded.files}, ""), inputs,
                unwrap(read_layout_text(founded.files.at(layout_file))),
                drawn_text(), {{threads, 0, scripting::patience}, 0, {}}),
        micro_batch(
            static_cast<std::uint32_t>(samples->usual_micro_batch(at::kCPU))),
        gradient(founded.first->parameters.size()),
        module(torch::jit::load(path)) {
    torch::jit::setGraphExecutorOptimize(false);
    module.train();
  }
};

script_race::script_race(const std::string& path, int threads) {
  limit_interop_threads();
  recycle_tensor_memory();
  it_ = std::make_unique<contest>(path, threads);
}

script_race::~script_race() = default;

std::uint64_t script_race::parameters() const {
  return it_->gradient.size();
}

double script_race::trainer_step(std::uint32_t count) {
  auto& x = *it_;
  const std::atomic<bool> never{false};
  std::fill(x.gradient.begin(), x.gradient.end(), 0.0f);
  const auto began = clock::now();
  ++x.number;
  for (std::uint32_t done = 0; done < count;) {
    batch_request request;
    request.order_seed = order_seed;
    request.first_sample = x.next;
    request.samples = std::min(count - done, x.trainer.usual_request());
    request.state = digest_of(&x.number, sizeof x.number);
    x.trainer.accumulate(request, x.founded.first->parameters.data(),
                         x.gradient.data(), never);
    done += request.samples;
    x.next += request.samples;
  }
  x.trainer.collect(x.gradient.data());
  return since(began);
}

double script_race::bare_step(std::uint32_t count) {
  auto& x = *it_;
  const flushed_denormals flushed;
  at::set_num_threads(x.threads);
  const at::AutoGradMode recording(true);
  const auto began = clock::now();
  for (auto parameter : x.module.parameters())
    parameter.mutable_grad() = at::Tensor();
  for (std::uint32_t done = 0; done < count;) {
    const auto some = std::min(count - done, x.micro_batch);
    const auto batch = x.samples->gather(sample_part::training, order_seed,
                                         x.next, 1, some, at::kCPU);
    std::vector<c10::IValue> arguments;
    for (const auto& input : inputs_of(x.inputs, batch, some))
      arguments.emplace_back(input);
    const auto answer = x.module.get_method("forward")(std::move(arguments));
    const auto loss = answer.isGenericDict()
                          ? answer.toGenericDict().at("loss").toTensor()
                          : answer.toTensor();
    (loss * static_cast<double>(some)).backward();
    done += some;
    x.next += some;
  }
  return since(began);
}

} // namespace potluck
