#include "tools/lab/bench/mixture_trials.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "models/catalogue.hpp"
#include "models/experts/catalogue.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/optimizer/lamb.hpp"
#include "runtime/state/training_state.hpp"
#include "tools/lab/bench/blocking_call.hpp"
#include "tools/lab/bench/emulated_experts.hpp"

namespace potluck::bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

run_settings settings_of(const mixture_shape& shape, bool mixture) {
  run_settings x;
  x.model = mixture ? "mnist-dmoe" : "mnist-ffn";
  x.layers = shape.layers;
  x.hidden_size = shape.hidden;
  x.heads = 1;
  x.intermediate_size = shape.k * shape.inner;
  x.expert_grid = shape.grid;
  x.experts_per_sample = shape.k;
  return x;
}

expert_kind kind_of(const mixture_shape& shape, std::uint32_t inner,
                    double learning_rate) {
  expert_kind x;
  x.learning_rate = learning_rate;
  x.hidden = shape.hidden;
  x.inner = inner;
  return x;
}

std::shared_ptr<emulated_experts>
host_mixture(const mixture_shape& shape, emulated_lines lines,
             double learning_rate = expert_kind{}.learning_rate) {
  auto grid = unwrap(
      parse_expert_grid(std::to_string(shape.layers) + "x" + shape.grid));
  std::string pattern = "ffn";
  for (std::size_t i = 0; i < grid.size(); ++i)
    pattern += ".*";
  std::vector<std::string> uids;
  for (const auto& uid : unwrap(experts_of_pattern(pattern, grid)))
    uids.push_back(to_string(uid));
  return std::make_shared<emulated_experts>(
      lines, make_expert_factory("cpu", 1),
      kind_of(shape, shape.inner, learning_rate), uids);
}

std::unique_ptr<trainer> open_trainer(const run_settings& settings,
                                      const std::string& data,
                                      std::uint32_t micro_batch,
                                      std::uint32_t in_flight,
                                      std::shared_ptr<expert_network> experts) {
  trainer_options options;
  options.data_path = data;
  options.device = "cpu";
  options.threads = 1;
  options.micro_batch = micro_batch;
  options.in_flight = in_flight;
  options.experts = std::move(experts);
  return make_trainer_factory(options)(unwrap(propose_charter(settings, data)));
}

/// What learns: parameters and the optimizer's statistics, shared by threads.
class student {
public:
  student(const run_settings& settings, const model_layout& layout)
      : layout_(layout), optimize_(settings),
        state_(initial_state(layout, settings.seed)) {
  }

  std::pair<std::vector<float>, std::uint64_t> parameters() const {
    std::lock_guard<std::mutex> guard{mutex_};
    return {state_.parameters, state_.step};
  }

  /// @param gradient The sum over `samples`.
  /// @returns The updates since those parameters.
  std::uint64_t learn(std::vector<float> gradient, std::uint32_t samples,
                      std::uint64_t of_step) {
    for (auto& x : gradient)
      x /= static_cast<float>(samples);
    std::lock_guard<std::mutex> guard{mutex_};
    const auto stale = state_.step - of_step;
    optimize_.apply(layout_, state_.parameters.data(),
                    state_.first_moment.data(), state_.second_moment.data(),
                    gradient.data(), state_.step + 1);
    ++state_.step;
    return stale;
  }

private:
  model_layout layout_;
  optimizer optimize_;
  mutable std::mutex mutex_;
  training_state state_;
};

run_settings learning_settings(const mixture_shape& shape,
                               const learning_options& how, bool mixture) {
  auto x = settings_of(shape, mixture);
  x.steps = how.updates;
  x.warmup_steps = std::max<std::uint64_t>(1, how.updates / 10);
  x.learning_rate = how.learning_rate;
  x.seed = how.seed;
  return x;
}

} // namespace

// ---- throughput -------------------------------------------------------------

double mixture_throughput(const mixture_shape& shape,
                          std::chrono::milliseconds mean_delay,
                          std::uint32_t in_flight, double seconds) {
  emulated_lines lines;
  lines.mean_delay = mean_delay;
  auto experts = host_mixture(shape, lines);
  auto model = open_trainer(settings_of(shape, true), "digits",
                            shape.micro_batch, in_flight, experts);
  const auto state = initial_state(model->layout(), 1);
  std::vector<float> gradient(state.parameters.size());
  const std::atomic<bool> never{false};
  // All of a request's micro-batches but the last ones overlap: long requests.
  const auto whole = in_flight * shape.micro_batch;
  model->accumulate({1, 0, shape.micro_batch, 1}, state.parameters.data(),
                    gradient.data(), never);
  std::uint64_t done = 0;
  const auto begin = clock::now();
  for (std::uint32_t rounds = 6; seconds_since(begin) < seconds;)
    done += model
                ->accumulate({1, done, rounds * whole, 1},
                             state.parameters.data(), gradient.data(), never)
                .samples;
  return static_cast<double>(done) / seconds_since(begin);
}

double pipeline_throughput(const mixture_shape& shape,
                           std::chrono::milliseconds mean_delay,
                           double seconds) {
  emulated_lines lines;
  lines.mean_delay = mean_delay;
  std::vector<std::string> stages;
  for (std::uint32_t i = 0; i < shape.layers; ++i)
    stages.push_back("stage." + std::to_string(i));
  emulated_experts network(
      lines, make_expert_factory("cpu", 1),
      kind_of(shape, shape.k * shape.inner, expert_kind{}.learning_rate),
      stages);
  const auto values = std::size_t{shape.micro_batch} * shape.hidden;
  auto ask = [&](const std::string& uid, expert_pass pass, float_array sent) {
    expert_call x{uid, pass, shape.micro_batch,
                  std::make_shared<const float_array>(std::move(sent)),
                  std::chrono::minutes{1}};
    return unwrap(blocking_call(network, std::move(x))).values;
  };
  auto pass_through = [&](std::uint64_t seed) {
    random_stream chance(seed);
    float_array x(values);
    for (auto& v : x)
      v = static_cast<float>(chance.uniform01() - 0.5);
    std::vector<float_array> inputs;
    for (const auto& stage : stages) {
      inputs.push_back(x);
      x = ask(stage, expert_pass::forward, std::move(x));
    }
    for (std::size_t i = stages.size(); i-- > 0;) {
      auto both = std::move(inputs[i]);
      both.insert(both.end(), x.begin(), x.end());
      x = ask(stages[i], expert_pass::backward, std::move(both));
    }
  };
  pass_through(0);
  std::uint64_t done = 0;
  const auto begin = clock::now();
  while (seconds_since(begin) < seconds) {
    std::vector<std::future<void>> batches;
    for (std::uint32_t i = 0; i < shape.layers; ++i)
      batches.push_back(
          std::async(std::launch::async, pass_through, done + i + 1));
    for (auto& x : batches)
      x.get();
    done += shape.layers * shape.micro_batch;
  }
  return static_cast<double>(done) / seconds_since(begin);
}

// ---- learning ---------------------------------------------------------------

learning_curve learn_with_mixture(const mixture_shape& shape,
                                  const learning_options& how) {
  emulated_lines lines;
  lines.mean_delay = how.mean_delay;
  lines.failing = how.failing;
  lines.seed = how.seed;
  const auto settings = learning_settings(shape, how, true);
  auto model = open_trainer(settings, how.data, shape.micro_batch, 1,
                            host_mixture(shape, lines, how.expert_rate));
  student own(settings, model->layout());
  const std::atomic<bool> never{false};
  learning_curve curve;
  std::mutex mutex;
  double staleness = 0;
  std::uint64_t begun = 0;
  // Rounds of `look_every` updates, so that nothing changes under an
  // evaluation; within one nobody waits for anybody.
  for (std::uint64_t until = 0; until < how.updates;) {
    until = std::min(until + how.look_every, how.updates);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < how.in_flight; ++i)
      threads.emplace_back([&] {
        for (;;) {
          std::uint64_t number = 0;
          {
            std::lock_guard<std::mutex> guard{mutex};
            if (begun == until)
              return;
            number = begun++;
          }
          auto [parameters, step] = own.parameters();
          std::vector<float> gradient(parameters.size());
          const auto samples
              = model
                    ->accumulate({how.seed, number * shape.micro_batch,
                                  shape.micro_batch, 1},
                                 parameters.data(), gradient.data(), never)
                    .samples;
          if (samples == 0)
            continue; // No expert answered at all; the update is lost.
          const auto stale = own.learn(std::move(gradient), samples, step);
          std::lock_guard<std::mutex> guard{mutex};
          staleness += static_cast<double>(stale);
        }
      });
    for (auto& x : threads)
      x.join();
    const auto parameters = own.parameters().first;
    curve.points.push_back(
        {until, model->evaluate(parameters.data(), 0, how.look_at).accuracy});
  }
  curve.staleness = staleness / static_cast<double>(how.updates);
  return curve;
}

learning_curve learn_dense(const mixture_shape& shape,
                           const learning_options& how) {
  const auto settings = learning_settings(shape, how, false);
  auto model = open_trainer(settings, how.data, shape.micro_batch, 1, nullptr);
  student own(settings, model->layout());
  const std::atomic<bool> never{false};
  struct late {
    std::vector<float> gradient;
    std::uint64_t step;
  };
  std::deque<late> waiting;
  learning_curve curve;
  for (std::uint64_t number = 0; number < how.updates; ++number) {
    auto [parameters, step] = own.parameters();
    std::vector<float> gradient(parameters.size());
    model->accumulate(
        {how.seed, number * shape.micro_batch, shape.micro_batch, 1},
        parameters.data(), gradient.data(), never);
    waiting.push_back({std::move(gradient), step});
    if (waiting.size() == how.in_flight) {
      curve.staleness += static_cast<double>(
          own.learn(std::move(waiting.front().gradient), shape.micro_batch,
                    waiting.front().step));
      waiting.pop_front();
    }
    if ((number + 1) % how.look_every == 0 || number + 1 == how.updates) {
      const auto now = own.parameters().first;
      curve.points.push_back(
          {number + 1, model->evaluate(now.data(), 0, how.look_at).accuracy});
    }
  }
  curve.staleness /= static_cast<double>(how.updates);
  return curve;
}

} // namespace potluck::bench
