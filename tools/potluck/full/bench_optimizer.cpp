/// `potluck bench optimizer`: each rule on flat vectors, next to the machine's
/// memory and to LibTorch's Adam.

#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>

#include "models/adam_reference.hpp"
#include "runtime/optimizer/optimizer.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t tensor_values = 4'000'000;

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

/// Of updates, in seconds, and of the machine's memory meanwhile.
struct rule_trial {
  std::vector<double> seconds;
  std::vector<double> memory; ///< Bytes a second.
  double bytes_a_value = 0;   ///< That an update reads and writes of memory.
};

expected<rule_trial> measure(const std::string& name,
                             const model_layout& layout, unsigned threads,
                             std::uint64_t rounds) {
  const auto values = layout.values();
  std::vector<float> x(values, 0.1f), m(values), v(values), g(values, 0.01f);
  optimizer::options how;
  how.clip_norm = 1;
  how.threads = threads;
  optimizer rule{unwrap(make_rule(name)), layout, how};
  rule_trial result;
  // The gradient is read once more, for its norm.
  result.bytes_a_value = (1 + rule.rule().traffic()) * sizeof(float);
  for (std::uint64_t step = 1; step <= rounds + 1; ++step) {
    const auto began = clock::now();
    if (rule.apply({x.data(), m.data(), v.data()}, g.data(), step, 1e-3)
        != optimizer::verdict::applied)
      return failure{name + " refused its gradient."};
    if (step == 1)
      continue; // Its pages are new.
    result.seconds.push_back(since(began));
    result.memory.push_back(bandwidth(g, m, v, threads));
  }
  return result;
}

} // namespace

int bench_optimizer(cli::command_line& options) {
  const auto wanted = options.text("optimizer");
  if (wanted != "all" && !optimizer_family().find(wanted))
    return complain("--optimizer must be one of " + optimizer_family().names()
                    + ", all.");
  auto rounds = options.integer("rounds");
  auto threads = options.integer("threads");
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  auto workers = static_cast<unsigned>(threads);
  auto values = static_cast<std::uint64_t>(options.real("megabytes") * 1e6
                                           / sizeof(float));
  const auto layout = layout_of(values);
  const auto adam = bench::quantile(
      time_adam(values, tensor_values, workers, static_cast<unsigned>(rounds)),
      0.5);
  auto result = nlohmann::ordered_json::array();
  for (const auto& kind : optimizer_family().kinds) {
    if (wanted != "all" && wanted != kind.name)
      continue;
    const auto x = measure(kind.name, layout, workers,
                           static_cast<std::uint64_t>(rounds));
    if (!x)
      return complain(x.error(), failed);
    const auto seconds = bench::quantile(x->seconds, 0.5);
    const auto memory = bench::quantile(x->memory, 0.5);
    const auto bytes = static_cast<double>(values) * x->bytes_a_value;
    result.push_back({{"optimizer", kind.name},
                      {"values", values},
                      {"threads", workers},
                      {"rounds", rounds},
                      {"seconds_median", seconds},
                      {"memory_bytes_per_second", memory},
                      {"memory_share", bytes / seconds / memory},
                      {"torch_adam_seconds_median", adam},
                      {"ratio", seconds / adam}});
  }
  return report(options, result);
}

} // namespace potluck::tools
