/// `potluck bench packing`: what packings cost in learning, and bring in bytes.

#include <iomanip>
#include <iostream>

#include <nlohmann/json.hpp>

#include "models/catalogue.hpp"
#include "tools/lab/bench/packing_trials.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using bench::packed_learning_curve;
constexpr packing trials[] = {packing::float32, packing::int8};

/// A network that two cores train in minutes.
run_settings small_network(const std::string& data, std::uint64_t steps) {
  run_settings s;
  s.steps = steps;
  s.warmup_steps = steps / 10;
  s.chunk_values = 4096;
  s.hidden_size = 64;
  s.layers = 2;
  s.target_batch = 128;
  s.learning_rate = 0.01;
  if (problem_with_data("mnist-ffn", data).empty()) {
    s.model = "mnist-ffn";
    s.intermediate_size = 128;
    return s;
  }
  s.vocabulary = 1000;
  s.embedding_size = 32;
  s.intermediate_size = 256;
  s.sequence_length = 32;
  return s;
}

nlohmann::ordered_json to_object(packing what, const packed_learning_curve& x) {
  auto points = nlohmann::ordered_json::array();
  for (const auto& point : x.points)
    points.push_back({{"step", point.step}, {"loss", point.loss}});
  return {{"packing", to_string(what)}, {"part_bytes", x.part_bytes},
          {"mean_bytes", x.mean_bytes}, {"loss", x.end.loss},
          {"accuracy", x.end.accuracy}, {"curve", points}};
}

void show(packing what, const packed_learning_curve& x) {
  std::cout << std::fixed << std::setprecision(1) << to_string(what) << ": "
            << x.part_bytes / 1e3 << " kB of parts and " << x.mean_bytes / 1e3
            << " kB of means a member and step; loss" << std::setprecision(3);
  for (const auto& point : x.points)
    std::cout << "  " << point.step << ": " << point.loss;
  std::cout << "; of other samples " << x.end.loss << ", accuracy "
            << x.end.accuracy << std::endl;
}

} // namespace

int bench_packing(cli::command_line& options) {
  const auto steps = options.integer("updates");
  if (steps < 10 || steps > 1'000'000)
    return complain("--updates must be a number from 10 to 1000000.");
  const auto peers = options.integer("peers");
  if (peers < 1 || peers > 64)
    return complain("--peers must be a number from 1 to 64.");
  bench::packed_learning_options how;
  how.members = static_cast<std::uint32_t>(peers);
  how.look_every = std::max<std::uint64_t>(1, steps / 10);
  auto rows = nlohmann::ordered_json::array();
  try {
    trainer_options data;
    data.data_path = options.text("data");
    const auto agreed = propose_charter(
        small_network(data.data_path, static_cast<std::uint64_t>(steps)),
        data.data_path);
    if (!agreed)
      return complain(agreed.error());
    auto model = make_trainer_factory(data)(*agreed);
    if (!options.flag("json"))
      std::cout << agreed->settings().model << " of "
                << model->layout().values() << " parameters, " << peers
                << " members, target batch " << agreed->settings().target_batch
                << std::endl;
    for (auto what : trials) {
      auto curve = bench::learn_packed(*model, agreed->settings(), what, how);
      rows.push_back(to_object(what, curve));
      if (!options.flag("json"))
        show(what, curve);
    }
  } catch (const std::exception& e) {
    return complain(e.what(), failed);
  }
  if (options.flag("json"))
    std::cout << rows.dump(2) << std::endl;
  return std::cout ? all_well : failed;
}

} // namespace potluck::tools
