/// `potluck bench trainer`: how many samples a second a trainer computes, next
/// to a bare LibTorch loop over the same network.

#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include "models/catalogue.hpp"
#include "models/script/script_race.hpp"
#include "models/trainer_race.hpp"
#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

constexpr double goal = 0.97;

struct trainer_row {
  std::string name;
  run_settings settings;
  std::uint32_t samples = 0; ///< Of a step.
};

run_settings shape(const std::string& model, std::uint32_t vocabulary,
                   std::uint32_t length, std::uint32_t hidden,
                   std::uint32_t layers, std::uint32_t heads) {
  run_settings x;
  auto done = assign(x,
                     {{"model", model},
                      {"vocabulary", std::to_string(vocabulary)},
                      {"sequence-length", std::to_string(length)},
                      {"hidden-size", std::to_string(hidden)},
                      {"intermediate-size", std::to_string(4 * hidden)},
                      {"layers", std::to_string(layers)},
                      {"heads", std::to_string(heads)}},
                     known_families());
  if (!done)
    throw std::logic_error(done.error());
  return x;
}

std::vector<trainer_row> trainer_rows() {
  return {
      {"albert", shape("albert", 2000, 64, 256, 4, 4), 256},
      {"gpt", shape("gpt", 2000, 64, 256, 4, 4), 256},
      {"gpt-100m", shape("gpt", 8192, 512, 768, 14, 12), 1024},
  };
}

/// What a race says of itself.
struct raced {
  std::string row, device, precision;
  std::uint32_t samples; ///< Of a step.
};

template <class Race>
nlohmann::ordered_json measure(Race& race, const raced& what,
                               const cli::command_line& options) {
  const auto asked = static_cast<std::uint32_t>(options.integer("samples"));
  const auto samples = asked == 0 ? what.samples : asked;
  std::vector<double> trainer, bare, ratios;
  // The first of each is not counted. Which begins alternates: machines become
  // slower and faster by the minute.
  for (std::int64_t i = 0; i <= options.integer("rounds"); ++i) {
    const auto first = i % 2 == 0 ? race.trainer_step(samples) : 0;
    const auto loop = race.bare_step(samples);
    const auto seconds = i % 2 == 0 ? first : race.trainer_step(samples);
    if (i == 0)
      continue;
    trainer.push_back(samples / seconds);
    bare.push_back(samples / loop);
    ratios.push_back(loop / seconds);
  }
  const auto ratio = bench::quantile(ratios, 0.5);
  return {{"row", what.row},
          {"parameters", race.parameters()},
          {"device", what.device},
          {"precision", what.precision},
          {"samples_a_step", samples},
          {"samples_per_second", bench::quantile(trainer, 0.5)},
          {"bare_samples_per_second", bench::quantile(bare, 0.5)},
          {"ratio", ratio},
          {"goal", goal},
          {"met", ratio >= goal}};
}

nlohmann::ordered_json measure(const trainer_row& row,
                               const cli::command_line& options, int threads) {
  race_workload what;
  what.settings = row.settings;
  what.device = options.text("device");
  what.precision = options.text("precision");
  what.threads = threads;
  what.notice = [](const std::string& x) { complain(x); };
  trainer_race race(what);
  return measure(
      race, {row.name, device_in_use(what.device), what.precision, row.samples},
      options);
}

nlohmann::ordered_json measure_script(const cli::command_line& options,
                                      int threads) {
  script_race race(options.text("script"), threads);
  return measure(race, {"script", "cpu", "float32", 256}, options);
}

} // namespace

int bench_trainer(cli::command_line& options) {
  const auto wanted = options.text("row");
  const auto device = options.text("device");
  if (auto problem = problem_with_device(device); !problem.empty())
    return complain("--device: " + problem);
  if (auto problem = problem_with_precision(options.text("precision"), device);
      !problem.empty())
    return complain("--precision: " + problem);
  auto threads = static_cast<int>(options.integer("threads"));
  if (threads == 0)
    threads
        = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  auto result = nlohmann::ordered_json::array();
  bool met = true;
  if (options.given("script")) {
    try {
      result.push_back(measure_script(options, threads));
    } catch (const std::exception& e) {
      return complain(std::string{"--script: "} + e.what(), failed);
    }
    return report(options, result, result.back()["met"].get<bool>());
  }
  for (const auto& row : trainer_rows()) {
    // The large one is for graphics cards.
    if (wanted == "all" ? row.name == "gpt-100m" : row.name != wanted)
      continue;
    try {
      result.push_back(measure(row, options, threads));
    } catch (const std::exception& e) {
      return complain(row.name + ": " + e.what(), failed);
    }
    met &= result.back()["met"].get<bool>();
  }
  if (result.empty())
    return complain("--row must be all, albert, gpt or gpt-100m.");
  return report(options, result, met);
}

} // namespace potluck::tools
