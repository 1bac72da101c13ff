/// `potluck sim`: a scenario in virtual time, and whether the promises were
/// kept.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>
#include <unistd.h>

#ifdef POTLUCK_MIMALLOC
#include <mimalloc.h>
#endif
#include <nlohmann/json.hpp>

#include "runtime/numbers.hpp"
#include "tools/lab/sim/safeguard_names.hpp"
#include "tools/lab/sim/world.hpp"
#include "tools/potluck/scenario_options.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using simulation::report;

volatile std::sig_atomic_t interrupted = 0;

/// All but what `--without` names; a failure says which names there are.
expected<safeguard_set> safeguards_from(const cli::command_line& options) {
  if (!options.given("without"))
    return safeguard_set{};
  auto name = options.text("without");
  if (auto found = simulation::safeguard_named(name))
    return safeguard_set{}.without(*found);
  auto sentence = "--without: there is no safeguard `" + name + "`; there are";
  for (auto& x : simulation::safeguards())
    sentence += "\n  " + x.name + ": " + x.guards;
  return failure{sentence};
}

nlohmann::ordered_json to_object(const report& x, const scenario& what,
                                 std::uint64_t seed, const std::string& replay,
                                 double taken) {
  nlohmann::ordered_json faults = nlohmann::ordered_json::object();
  for (auto& [kind, count] : x.faults)
    faults[to_string(kind)] = count;
  nlohmann::ordered_json rare = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < x.rare_paths.size(); ++i)
    if (x.rare_paths[i] > 0)
      rare[name_of(static_cast<fault_point>(i))] = x.rare_paths[i];
  return {
      {"scenario", what.name},
      {"seed", seed},
      {"passed", x.passed},
      {"violations", x.violations},
      {"virtual_seconds", to_seconds(x.lasted)},
      {"peers", x.most_peers},
      {"steps", x.steps},
      {"last_step_seconds", to_seconds(x.last_step)},
      {"slowest_entry_seconds", to_seconds(x.slowest_entry)},
      {"samples", x.samples},
      {"first_try", x.first_try},
      {"splits", x.splits},
      {"loss", x.loss},
      {"drift", x.drift},
      {"checks", x.checks},
      {"expert_updates", x.expert_updates},
      {"expert_moves", x.expert_moves},
      {"messages", x.messages},
      {"frames", x.network.sent},
      {"bytes", x.network.bytes_sent},
      {"lost_packets", x.network.lost},
      {"duplicated", x.network.duplicated},
      {"reordered", x.network.reordered},
      {"corrupted", x.network.corrupted},
      {"highest_queue", x.highest_queue},
      {"faults", faults},
      {"fault_points", rare},
      {"history", x.history},
      {"log_digest", to_string(x.log)},
      {"replay", replay},
      // These two depend on the machine.
      {"machine_seconds", taken},
      {"times_faster_than_life", to_seconds(x.lasted) / std::max(taken, 1e-3)}};
}

void print(const report& x, const scenario& what, std::uint64_t seed,
           const std::string& replay) {
  std::cout << what.name << ", seed " << seed << ": " << x.steps << " steps in "
            << readable_seconds(to_seconds(x.lasted))
            << " of virtual time, up to " << x.most_peers << " peers\n";
  std::cout << "  faults:";
  for (auto& [kind, count] : x.faults)
    std::cout << " " << to_string(kind) << " " << count;
  if (x.faults.empty())
    std::cout << " none";
  std::cout << "\n  last step at " << readable_seconds(to_seconds(x.last_step))
            << ", committed at the first try: "
            << readable(x.first_try * 100, 3) << " %, split steps: " << x.splits
            << ", loss " << readable(x.loss)
            << "\n  network: " << x.network.sent << " frames, "
            << readable(static_cast<double>(x.network.bytes_sent) / 1e6, 3)
            << " MB, " << x.network.lost << " losses, " << x.network.corrupted
            << " corrupted\n  " << x.checks << " checks of the promises, log "
            << to_string(x.log) << "\n";
  if (x.expert_updates > 0)
    std::cout << "  experts: " << x.expert_updates << " updates, "
              << x.expert_moves << " came to other hosts\n";
  if (x.most_drift > 0)
    std::cout << "  redrawn groups: parameters at most "
              << readable(x.drift * 100, 3) << " % of their length apart, of "
              << readable(x.most_drift * 100, 3) << " % allowed\n";
  for (auto& violation : x.violations)
    std::cout << "  WRONG " << violation << "\n";
  if (x.passed)
    std::cout << "sim: PASS\n";
  else if (x.interrupted)
    std::cout << "sim: interrupted\n";
  else
    std::cout << "The same again: " << replay << "\nsim: FAIL\n";
  std::cout.flush();
}

int run_sim(cli::command_line& options, const std::string&) {
  if (options.flag("format")) {
    std::cout << scenario_help();
    return all_well;
  }
  auto what = scenario_from(options, "sim");
  if (!what)
    return complain(what.error());
  for (auto& x : what->faults)
    if (!trait_of(x.kind).in_simulation)
      return complain(options.text("scenario") + ": the fault "
                      + to_string(x.kind)
                      + " cannot be simulated; `potluck chaos` knows it.");
  auto guards = safeguards_from(options);
  if (!guards)
    return complain(guards.error());
  auto seeds = options.integer("seeds");
  std::ofstream log;
  if (options.given("log")) {
    log.open(options.text("log"));
    if (!log)
      return complain("--log: '" + options.text("log")
                      + "' cannot be written; name another file.");
  }
#ifdef POTLUCK_MIMALLOC
  // Each turn finds its machine's memory cold: with pages of 4 KiB their table,
  // too.
  mi_option_enable(mi_option_large_os_pages);
#endif
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  auto first = static_cast<std::uint64_t>(options.integer("seed"));
  auto live = ::isatty(STDERR_FILENO) != 0;
  auto threads = options.integer("threads");
  std::int64_t failures = 0;
  double virtual_seconds = 0;
  std::uint64_t messages = 0;
  std::uint64_t frames = 0;
  auto began = std::chrono::steady_clock::now();
  auto clock_began = std::clock();
  auto taken = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now()
                                         - began)
        .count();
  };
  for (std::int64_t i = 0; i < seeds && !interrupted; ++i) {
    auto seed = first + static_cast<std::uint64_t>(i);
    simulation::options how;
    how.seed = seed;
    how.guards = *guards;
    how.weightless = options.flag("weightless");
    how.strangers = !options.flag("without-strangers");
    how.fault_points = options.flag("fault-points");
    how.threads = threads > 0 ? static_cast<unsigned>(threads)
                              : std::thread::hardware_concurrency();
    if (log.is_open())
      how.log = [&](const std::string& line) { log << line << '\n'; };
    const auto before = taken();
    double shown = before;
    how.watch = [&](const simulation::world& w) {
      if (live && taken() - shown > 0.2) {
        shown = taken();
        std::fprintf(
            stderr, "\rseed %llu: %.0f s of %.0f, step %llu, %zu peers ",
            static_cast<unsigned long long>(seed), to_seconds(w.now()),
            to_seconds(w.lasts()),
            static_cast<unsigned long long>(w.how_far().highest_step()),
            w.running());
      }
      return interrupted == 0;
    };
    report result;
    try {
      result = simulation::world{*what, how}.run();
    } catch (const std::exception& e) {
      result.violations.push_back(e.what());
    }
    if (live)
      std::fputs("\r\033[K", stderr);
    virtual_seconds += to_seconds(result.lasted);
    messages += result.messages;
    frames += result.network.sent;
    auto replay = replay_line(options, "sim", seed);
    if (!result.passed && !result.interrupted)
      ++failures;
    if (options.flag("json"))
      std::cout << to_object(result, *what, seed, replay, taken() - before)
                       .dump(seeds == 1 ? 2 : -1, ' ', false,
                             nlohmann::json::error_handler_t::replace)
                << std::endl;
    else if (seeds == 1 || !result.passed)
      print(result, *what, seed, replay);
  }
  if (seeds > 1 && !options.flag("json"))
    std::cout << what->name << ": " << seeds << " seeds from " << first << ", "
              << failures << " failed\nsim: "
              << (failures == 0 && !interrupted ? "PASS" : "FAIL") << std::endl;
  // Not on standard output: that is the same for the same seed, but for the
  // last two lines of --json.
  auto computed = static_cast<double>(std::clock() - clock_began)
                  / static_cast<double>(CLOCKS_PER_SEC);
  std::fprintf(stderr,
               "%.1f s of machine time, %.1f times faster than life; %.0f "
               "messages and %.0f frames a second of processor time\n",
               taken(), virtual_seconds / std::max(taken(), 1e-3),
               static_cast<double>(messages) / std::max(computed, 1e-3),
               static_cast<double>(frames) / std::max(computed, 1e-3));
  if (log.is_open() && !log.flush())
    return complain("--log: the log could not be written; is the disk full?",
                    failed);
  return failures == 0 && !interrupted ? all_well : failed;
}

} // namespace

command sim_command() {
  cli::command_spec spec;
  spec.name = "sim";
  spec.summary = "Simulate a scenario in virtual time, whole peers and all";
  spec.usage = "potluck sim --scenario FILE [OPTION]...";
  spec.options = {
      {"seed", option_kind::integer, "1",
       "Of all chance: the same seed gives the same history, to the byte.",
       "NUMBER"},
      {"seeds", option_kind::integer, "1",
       "Run so many seeds, beginning with --seed; print those that fail.",
       "NUMBER", cli::between(1, 1e9)},
      {"weightless", option_kind::flag, "",
       "Replace computing by its duration: for thousands of peers.", ""},
      {"threads", option_kind::integer, "0",
       "Simulate a crowd (256 peers or more) in so many threads; the history "
       "is the same (default: as many as cores).",
       "NUMBER", cli::between(0, 256)},
      {"without", option_kind::text, "",
       "Take one safeguard away, to see the simulation fail; `--without ?` "
       "lists them.",
       "NAME"},
      {"without-strangers", option_kind::flag, "",
       "Have the scenario's strangers do nothing: what their attack costs is "
       "the difference.",
       ""},
      {"fault-points", option_kind::flag, "",
       "Have peers take rare paths on purpose, which ones by the seed.", ""},
      {"log", option_kind::text, "",
       "Write what every peer reports to this file, a line of JSON each.",
       "FILE"},
      {"json", option_kind::flag, "",
       "Print one JSON object a seed instead of text.", ""},
  };
  for (auto& option : scenario_options())
    spec.options.push_back(option);
  return {spec, run_sim};
}

} // namespace potluck::tools
