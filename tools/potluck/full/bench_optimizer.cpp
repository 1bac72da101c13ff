/// `potluck bench optimizer`: LAMB on flat vectors, next to the machine's
/// memory and to LibTorch's Adam.

#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>

#include "models/adam_reference.hpp"
#include "runtime/optimizer/lamb.hpp"
#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t tensor_values = 4'000'000;
/// What an update reads and writes of memory a value, at least: the gradient
/// for its norm; gradient, both moments and the parameter for the direction's
/// norm, and the moments again when they are written; the three to move the
/// parameter, which is written. Ours has all of these passes and no other.
constexpr double bytes_a_value = 4 + 4 * 4 + 2 * 4 + 3 * 4 + 4;

double since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

model_layout layout_of(std::uint64_t values) {
  model_layout result;
  for (std::uint64_t done = 0; done < values; done += tensor_values)
    result.add(
        "tensor " + std::to_string(done / tensor_values),
        {static_cast<std::int64_t>(std::min(tensor_values, values - done))},
        true, 0, 0.02f);
  return result;
}

/// Bytes per second of a loop that reads two vectors and writes a third.
double bandwidth(std::vector<float>& out, const std::vector<float>& a,
                 const std::vector<float>& b, unsigned threads) {
  auto began = clock::now();
  std::vector<std::thread> others;
  auto share = [&](std::size_t i) {
    auto end = out.size() * (i + 1) / threads;
    for (auto k = out.size() * i / threads; k < end; ++k)
      out[k] = a[k] + 0.5f * b[k];
  };
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back(share, i);
  share(0);
  for (auto& x : others)
    x.join();
  return static_cast<double>(out.size()) * 3 * sizeof(float) / since(began);
}

} // namespace

int bench_optimizer(cli::command_line& options) {
  auto rounds = options.integer("rounds");
  auto threads = options.integer("threads");
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  auto workers = static_cast<unsigned>(threads);
  auto values = static_cast<std::uint64_t>(options.real("megabytes") * 1e6
                                           / sizeof(float));
  auto layout = layout_of(values);
  std::vector<double> own;
  std::vector<double> memory;
  {
    std::vector<float> x(values, 0.1f), m(values), v(values), g(values, 0.01f);
    run_settings settings;
    settings.steps = static_cast<std::uint64_t>(rounds) + 1;
    settings.warmup_steps = 0;
    optimizer lamb{settings, workers};
    for (std::uint64_t step = 1; step <= settings.steps; ++step) {
      auto began = clock::now();
      if (lamb.apply(layout, x.data(), m.data(), v.data(), g.data(), step)
          != optimizer::verdict::applied)
        return complain("The optimizer refused its gradient.", failed);
      if (step == 1)
        continue; // Its pages are new.
      own.push_back(since(began));
      memory.push_back(bandwidth(g, m, v, workers));
    }
  }
  auto adam = time_adam(values, tensor_values, workers,
                        static_cast<unsigned>(rounds));
  auto seconds = bench::quantile(own, 0.5);
  auto reference = bench::quantile(adam, 0.5);
  auto share = static_cast<double>(values) * bytes_a_value / seconds
               / bench::quantile(memory, 0.5);
  return report(options,
                {{"values", values},
                 {"threads", workers},
                 {"rounds", rounds},
                 {"seconds_median", seconds},
                 {"memory_bytes_per_second", bench::quantile(memory, 0.5)},
                 {"memory_share", share},
                 {"reference_seconds_median", reference},
                 {"ratio", seconds / reference}});
}

} // namespace potluck::tools
