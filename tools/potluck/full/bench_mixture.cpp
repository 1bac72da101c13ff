/// `potluck bench mixture`: what delays and failures cost a decentralised
/// mixture of experts, next to a pipeline and to a dense network.

#include <nlohmann/json.hpp>

#include "runtime/experts/expert_uid.hpp"
#include "tools/lab/bench/mixture_trials.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using bench::learning_curve;
using bench::mixture_shape;

/// Micro-batches that hide 200 ms: a pass through four layers and back waits
/// for the slowest of many calls eight times.
constexpr std::uint32_t enough_in_flight = 64;
constexpr int delays[] = {0, 50, 100, 200}; // ms
/// Stale gradients ask for small steps: of these rates, each network gets the
/// one that it ends best with.
constexpr double rates[] = {0.01, 0.003, 0.001};

nlohmann::ordered_json measure_delays(double seconds) {
  const mixture_shape shape;
  auto rows = nlohmann::ordered_json::array();
  double mixture_at_0 = 0;
  double pipeline_at_0 = 0;
  for (auto delay : delays) {
    const std::chrono::milliseconds mean{delay};
    const auto mixture
        = bench::mixture_throughput(shape, mean, enough_in_flight, seconds);
    const auto pipeline = bench::pipeline_throughput(shape, mean, seconds);
    if (delay == 0) {
      mixture_at_0 = mixture;
      pipeline_at_0 = pipeline;
    }
    rows.push_back({{"mean_delay_ms", delay},
                    {"mixture_samples_per_second", mixture},
                    {"mixture_ratio", mixture / mixture_at_0},
                    {"pipeline_samples_per_second", pipeline},
                    {"pipeline_ratio", pipeline / pipeline_at_0}});
  }
  return rows;
}

/// A network's curve at the rate that it ends best with.
struct tuned_curve {
  learning_curve curve;
  double rate = 0;
};

template <class Learn>
tuned_curve tune(bench::learning_options how, const Learn& learn) {
  tuned_curve best;
  for (auto rate : rates) {
    how.learning_rate = rate;
    auto curve = learn(how);
    if (best.rate == 0
        || curve.points.back().accuracy > best.curve.points.back().accuracy)
      best = {std::move(curve), rate};
  }
  return best;
}

nlohmann::ordered_json to_object(const std::string& name,
                                 const tuned_curve& tuned) {
  const auto& curve = tuned.curve;
  auto points = nlohmann::ordered_json::array();
  for (const auto& x : curve.points)
    points.push_back({{"update", x.update}, {"accuracy", x.accuracy}});
  return {{"network", name},
          {"learning_rate", tuned.rate},
          {"staleness_updates", curve.staleness},
          {"accuracy", curve.points.empty() ? 0 : curve.points.back().accuracy},
          {"curve", points}};
}

nlohmann::ordered_json measure_learning(const bench::learning_options& how,
                                        const std::vector<std::string>& grids) {
  mixture_shape shape;
  shape.hidden = 64;
  shape.inner = 64;
  shape.micro_batch = 32;
  auto curves = nlohmann::ordered_json::array();
  curves.push_back(to_object("dense", tune(how, [&](const auto& x) {
                               return bench::learn_dense(shape, x);
                             })));
  for (const auto& grid : grids) {
    shape.grid = grid;
    curves.push_back(to_object("mixture " + grid, tune(how, [&](const auto& x) {
                                 return bench::learn_with_mixture(shape, x);
                               })));
  }
  return curves;
}

} // namespace

int bench_mixture(cli::command_line& options) {
  const auto row = options.text("row");
  if (row != "all" && row != "delay" && row != "digits")
    return complain("--row: '" + row
                    + "' is no experiment; write delay, digits or all.");
  const auto grids = options.list("grids");
  for (const auto& grid : grids)
    if (auto sizes = parse_expert_grid(grid); !sizes)
      return complain("--grids: " + sizes.error());
  nlohmann::ordered_json result;
  try {
    if (row != "digits")
      result["delay"] = measure_delays(options.real("seconds"));
    if (row != "delay") {
      bench::learning_options how;
      how.data = options.text("data");
      how.updates = static_cast<std::uint64_t>(options.integer("updates"));
      how.look_every = std::max<std::uint64_t>(1, how.updates / 10);
      result["digits"] = measure_learning(how, grids);
    }
  } catch (const std::exception& e) {
    return complain(e.what(), failed);
  }
  return report(options, result);
}

} // namespace potluck::tools
