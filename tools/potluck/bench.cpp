/// `potluck bench`: how fast the parts are that have to be, each next to a
/// reference in the same run.

#include "tools/potluck/bench.hpp"

#include <iostream>

#include <nlohmann/json.hpp>

#include "runtime/numbers.hpp"
#include "runtime/state/charter.hpp"
#include "tools/lab/bench/averaging_member.hpp"
#include "tools/lab/display/table.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using nlohmann::ordered_json;

/// Below each other, whatever is inside it.
void add_figures(const ordered_json& x, const std::string& name,
                 std::vector<std::vector<std::string>>& rows) {
  if (x.is_structured()) {
    for (const auto& [key, value] : x.items())
      add_figures(value, name + (name.empty() ? "" : " ") + key, rows);
    return;
  }
  auto text = x.is_number_float() ? readable(x.get<double>())
              : x.is_string()     ? x.get<std::string>()
                                  : x.dump();
  rows.push_back({name, text});
}

std::string as_table(const ordered_json& x) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& column : x.is_array() ? x : ordered_json::array({x})) {
    std::vector<std::vector<std::string>> figures{{"", ""}};
    add_figures(column, "", figures);
    rows.resize(std::max(rows.size(), figures.size()));
    for (std::size_t i = 0; i < figures.size(); ++i)
      if (rows[i].empty())
        rows[i] = figures[i];
      else
        rows[i].push_back(figures[i][1]);
  }
  return table(rows);
}

int run_bench(cli::command_line& options, const std::string& program) {
  auto what = options.positionals();
  if (what == std::vector<std::string>{"averaging"})
    return bench_averaging(options, program);
  if (what == std::vector<std::string>{"optimizer"})
    return bench_optimizer(options);
  if (what == std::vector<std::string>{"experts"})
    return bench_experts(options, program);
  if (what == std::vector<std::string>{"beam"})
    return bench_beam(options);
  if (what == std::vector<std::string>{"checkpoint"})
    return bench_checkpoint(options);
  if (what == std::vector<std::string>{"step"})
    return bench_step(options, program);
  if (what == std::vector<std::string>{"trainer"})
    return bench_trainer(options);
  return complain("Say what to measure: potluck bench averaging, potluck bench "
                  "beam, potluck bench checkpoint, potluck bench experts, "
                  "potluck bench optimizer, "
                  "potluck bench step, or potluck bench trainer.");
}

} // namespace

int report(const cli::command_line& options, const ordered_json& x, bool met) {
  auto has_tables = [](const ordered_json& y) {
    return std::any_of(y.begin(), y.end(),
                       [](const auto& z) { return z.is_array(); });
  };
  if (options.flag("json"))
    std::cout << x.dump(2) << "\n";
  else if (x.is_object() && has_tables(x))
    for (const auto& [name, rows] : x.items())
      std::cout << name << "\n" << as_table(rows) << "\n";
  else
    std::cout << as_table(x);
  std::cout.flush();
  return met && std::cout ? all_well : failed;
}

std::vector<std::vector<std::string>>
member_commands(const cli::command_line& options, const std::string& program,
                std::size_t members) {
  std::vector<std::string> words{program, "bench"};
  for (const auto& word : options.positionals())
    words.push_back(word);
  words.push_back("--config-file=/dev/null");
  for (auto& word : options.given_words())
    words.push_back(std::move(word));
  std::vector<std::vector<std::string>> result(members, words);
  for (std::size_t i = 0; i < members; ++i)
    result[i].push_back("--member=" + std::to_string(i));
  return result;
}

command bench_command() {
  cli::command_spec spec;
  spec.name = "bench";
  spec.summary = "Measure averaging, steps, trainers, the optimizer, experts, "
                 "checkpoints";
  spec.usage = "potluck bench averaging|beam|checkpoint|experts|optimizer|"
               "step|trainer [OPTION]...";
  spec.positionals = 1;
  spec.options = {
      {"megabytes", option_kind::real, "40",
       "Of float32 parameters (1 MB is 10^6 bytes).", "NUMBER",
       cli::between(0.001, 16'384)},
      {"rounds", option_kind::integer, "15",
       "Rounds to measure, after a first one that is told apart.", "NUMBER",
       cli::between(1, 1e6)},
      {"json", option_kind::flag, "", "Print the figures as one JSON object.",
       ""},
      {"peers", option_kind::integer, "4", "Processes that average together.",
       "NUMBER", cli::between(1, bench::most_members)},
      {"chunk-values", option_kind::integer,
       std::to_string(run_settings{}.chunk_values),
       "Averaging and step: values of a chunk at most.", "NUMBER",
       cli::between(1, 1 << 24)},
      {"packing", option_kind::text, "float32",
       "Averaging, experts and step: how values are sent: float32, float16, "
       "bfloat16 or int8.",
       "NAME"},
      {"insecure", option_kind::flag, "",
       "Plain TCP instead of encrypted connections.", ""},
      {"reference", option_kind::text, "none",
       "Averaging: measure this as well, in the same run: none; gloo, its ring "
       "all-reduce; mpi, Open MPI's all-reduce.",
       "NAME"},
      {"shares", option_kind::text, "planned",
       "Averaging: who averages how much: planned, all-reduce or "
       "parameter-server.",
       "NAME"},
      {"line", option_kind::text, "",
       "Averaging: each process sends and receives no faster than this, as if "
       "its line were of 1gbit, say (default: no limit).",
       "RATE"},
      {"keep", option_kind::text, "",
       "Work in this folder, new or empty, and keep what the processes report "
       "(default: a temporary one).",
       "DIR"},
      {"threads", option_kind::integer, "0",
       "Experts, optimizer and trainer: threads; 0 for one a core. Checkpoint: "
       "those that compute; 0 for all cores.",
       "NUMBER", cli::between(0, 1024)},
      {"optimizer", option_kind::text, "all",
       "Optimizer: the rule to measure, or all.", "NAME"},
      {"row", option_kind::text, "all",
       "The workload. Experts: nop-large, nop-small, ffn-large, ffn-small, or "
       "all; trainer: albert, gpt, all for these two, or gpt-100m.",
       "NAME"},
      {"script", option_kind::text, "",
       "Trainer: measure this file of TorchScript instead, which takes tokens "
       "below 2000, and runs outside the sandbox, too.",
       "FILE"},
      {"device", option_kind::text, "auto",
       "Trainer: where to compute, as for join.", "DEVICE"},
      {"precision", option_kind::text, "float32",
       "Trainer: what to compute in, as for join.", "NAME"},
      {"samples", option_kind::integer, "0",
       "Trainer: of a step; 0 for what suits the workload.", "NUMBER",
       cli::between(0, 65536)},
      {"seconds", option_kind::real, "5", "Experts: to measure each workload.",
       "NUMBER", cli::between(0.1, 3600)},
      {"grids", option_kind::list, "4x4",
       "Beam: of the layer that is searched.", "SIZES"},
      {"nodes", option_kind::list, "100",
       "Beam: of the networks that are searched.", "NUMBERS"},
      {"searches", option_kind::integer, "256", "Beam: by so many nodes.",
       "NUMBER", cli::between(1, 1e5)},
      {"delay", option_kind::integer, "50",
       "Beam: mean of a message's one way, in milliseconds.", "NUMBER",
       cli::between(0, 1e4)},
      {"delayed", option_kind::flag, "",
       "Step: with delayed updates (see join --updates).", ""},
      {"target-batch", option_kind::integer, "2048",
       "Step: samples behind a global step.", "SAMPLES"},
      {"batch", option_kind::integer, "32",
       "Step: samples that a peer computes at a time.", "SAMPLES",
       cli::between(1, 65536)},
      {"batch-seconds", option_kind::real, "0.25",
       "Step: what it takes for that.", "NUMBER", cli::between(0.001, 60)},
      {"clients", option_kind::integer, "1",
       "Experts: of the process; with --member.", "NUMBER",
       cli::between(1, 512)},
      {"go", option_kind::text, "",
       "Experts: the file at which to begin; with --member.", "PATH"},
      {"member", option_kind::integer, "-1",
       "Be this one of the processes; for those that the command starts.",
       "NUMBER"},
      {"contact", option_kind::text, "",
       "Averaging and step: where the first process listens; with --member.",
       "ADDRESS"},
      {"upload", option_kind::text, "",
       "Averaging: what a member says of its line; with --member (default: "
       "what it measures).",
       "RATE"},
      {"download", option_kind::text, "", "Averaging: likewise.", "RATE"},
      {"listen", option_kind::text, "127.0.0.1:0",
       "Averaging: where a member listens; with --member.", "HOST:PORT"},
      {"announce", option_kind::text, "",
       "Averaging: where others reach it, if they cannot see that themselves.",
       "HOST:PORT"},
      {"dial-from", option_kind::text, "",
       "Averaging: the address of this machine that it dials from.", "HOST"},
  };
  return {spec, run_bench};
}

} // namespace potluck::tools
