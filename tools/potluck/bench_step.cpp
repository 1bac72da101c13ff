/// `potluck bench step`: how long a whole global step takes, with real peers
/// whose computing is a sleep, next to what computing alone would take.

#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/lab/bench/step_member.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

constexpr std::int64_t most_peers = 64;
constexpr std::int64_t most_steps = 100'000;
constexpr double most_megabytes = 16'384;
/// Some peers may come in the middle of the first ones, which have no rounds
/// before them to learn from either.
constexpr std::uint64_t first_steps = 2;

struct step_request {
  std::uint32_t peers = 4;
  std::uint64_t steps = 0; ///< The first ones included.
  bench::step_member_config member;
};

expected<step_request> request_from(const cli::command_line& options) {
  step_request result;
  auto peers = options.integer("peers");
  if (peers < 1 || peers > most_peers)
    return failure{"--peers must be a number from 1 to "
                   + std::to_string(most_peers) + "."};
  auto megabytes = options.real("megabytes");
  if (!(megabytes >= 0.001 && megabytes <= most_megabytes))
    return failure{"--megabytes must be a number from 0.001 to "
                   + std::to_string(static_cast<int>(most_megabytes)) + "."};
  auto rounds = options.integer("rounds");
  if (rounds < 1 || rounds > most_steps)
    return failure{"--rounds must be a number from 1 to "
                   + std::to_string(most_steps) + "."};
  auto batch = options.integer("batch");
  auto seconds = options.real("batch-seconds");
  if (!(seconds > 0 && seconds <= 60))
    return failure{"--batch-seconds must be more than 0 and at most 60."};
  auto threads = options.integer("threads");
  result.peers = static_cast<std::uint32_t>(peers);
  result.steps = static_cast<std::uint64_t>(rounds) + first_steps;
  auto& member = result.member;
  member.members = result.peers;
  member.values = static_cast<std::uint64_t>(megabytes * 1e6 / sizeof(float));
  member.batch = static_cast<std::uint32_t>(batch);
  member.batch_seconds = seconds;
  member.threads = threads == 0 ? 1 : static_cast<unsigned>(threads);
  member.insecure = options.flag("insecure");
  auto& settings = member.settings;
  settings.run = "bench";
  settings.model = "bench";
  settings.steps = result.steps;
  settings.warmup_steps = 1;
  settings.updates = options.flag("delayed") ? "delayed" : "synchronous";
  for (auto name : {"target-batch", "chunk-values"})
    if (auto done
        = assign(settings, name, std::to_string(options.integer(name)));
        !done)
      return failure{"--" + done.error() + "."};
  for (auto name : {"packing", "shares"})
    if (auto done = assign(settings, name, options.text(name)); !done)
      return failure{"--" + done.error() + "."};
  return result;
}

/// Seconds that the peers need together to compute a target batch.
double ideal_of(const step_request& x) {
  const auto& m = x.member;
  return static_cast<double>(m.settings.target_batch) * m.batch_seconds
         / m.batch / x.peers;
}

int run_member(step_request x, cli::command_line& options) {
  if (options.given("contact")) {
    auto contact = parse_address(options.text("contact"));
    if (!contact)
      return complain("--contact: " + contact.error());
    x.member.seeds.push_back(*contact);
  }
  caf::actor_system system{options};
  return bench::train(system, std::move(x.member), std::cout) ? all_well
                                                              : failed;
}

bench::averaging_trial trial_of(const step_request& x,
                                const std::string& program,
                                const cli::command_line& options) {
  bench::averaging_trial result;
  auto number = [&](const std::string& name) {
    std::ostringstream text;
    text << std::setprecision(17) << options.real(name);
    return "--" + name + "=" + text.str();
  };
  for (std::uint32_t i = 0; i < x.peers; ++i) {
    std::vector<std::string> words{program, "bench", "step",
                                   "--config-file=/dev/null"};
    for (auto name : {"rounds", "batch", "target-batch", "chunk-values",
                      "peers", "threads"})
      words.push_back("--" + std::string{name} + "="
                      + std::to_string(options.integer(name)));
    for (auto name : {"packing", "shares"})
      words.push_back("--" + std::string{name} + "=" + options.text(name));
    words.push_back(number("megabytes"));
    words.push_back(number("batch-seconds"));
    if (x.member.insecure)
      words.push_back("--insecure");
    if (options.flag("delayed"))
      words.push_back("--delayed");
    words.push_back("--member=" + std::to_string(i));
    result.commands.push_back(std::move(words));
  }
  result.contact_option = "--contact=";
  result.name = "member";
  result.rounds = x.steps;
  result.may_miss = first_steps;
  return result;
}

/// Of the measured steps; fails when members were missing in one.
expected<nlohmann::ordered_json> to_json(const step_request& what,
                                         bench::averaging_figures x) {
  for (auto* figures : {&x.seconds, &x.averaging_seconds, &x.samples, &x.peers})
    figures->erase(figures->begin(),
                   figures->begin()
                       + static_cast<std::ptrdiff_t>(first_steps - 1));
  for (auto peers : x.peers)
    if (peers != what.peers)
      return failure{"A step was made by "
                     + std::to_string(static_cast<int>(peers)) + " of "
                     + std::to_string(what.peers) + " peers."};
  const auto& settings = what.member.settings;
  auto ideal = ideal_of(what);
  auto seconds = bench::quantile(x.seconds, 0.5);
  double all_seconds = 0;
  double all_samples = 0;
  for (auto s : x.seconds)
    all_seconds += s;
  for (auto s : x.samples)
    all_samples += s;
  auto target = static_cast<double>(settings.target_batch);
  nlohmann::ordered_json result{
      {"peers", what.peers},
      {"megabytes", what.member.values * sizeof(float) / 1e6},
      {"updates", settings.updates},
      {"packing", settings.packing},
      {"encrypted", !what.member.insecure},
      {"steps", x.seconds.size()},
      {"ideal_seconds", ideal},
      {"seconds_median", seconds},
      {"seconds_p10", bench::quantile(x.seconds, 0.1)},
      {"seconds_p90", bench::quantile(x.seconds, 0.9)},
      {"overhead_percent", 100 * (seconds / ideal - 1)},
      {"samples_per_step", all_samples / static_cast<double>(x.samples.size())},
      {"overhead_percent_by_samples",
       100 * (all_seconds / all_samples * target / ideal - 1)},
      {"averaging_seconds_median", bench::quantile(x.averaging_seconds, 0.5)},
      {"cpu_seconds", x.cpu_seconds},
      {"peak_bytes", x.peak_bytes},
      {"digests_equal", x.digests_equal}};
  return result;
}

void print(const nlohmann::ordered_json& x) {
  auto number = [&](const char* name) { return x[name].get<double>(); };
  std::cout << std::setprecision(4) << x["peers"] << " peers, "
            << number("megabytes") << " MB, " << x["updates"].get<std::string>()
            << ", " << x["packing"].get<std::string>()
            << (x["encrypted"].get<bool>() ? ", encrypted, " : ", insecure, ")
            << x["steps"] << " steps\n"
            << "  a step: median " << number("seconds_median") << " s (p10 "
            << number("seconds_p10") << ", p90 " << number("seconds_p90")
            << "), of it averaging " << number("averaging_seconds_median")
            << " s\n"
            << "  computing alone: " << number("ideal_seconds")
            << " s; more than that: " << std::setprecision(3)
            << number("overhead_percent") << " %\n"
            << "  samples behind a step: " << std::setprecision(5)
            << number("samples_per_step") << "; more than computing alone "
            << std::setprecision(3)
            << "takes for as many: " << number("overhead_percent_by_samples")
            << " %\n"
            << std::flush;
}

} // namespace

int bench_step(cli::command_line& options, const std::string& program) {
  auto request = request_from(options);
  if (!request)
    return complain(request.error());
  if (options.integer("member") >= 0)
    return run_member(std::move(*request), options);
  auto directory = make_work_directory(options, "keep", "potluck-bench-");
  if (!directory)
    return complain(directory.error());
  auto family = child_group::make();
  if (!family)
    return complain(family.error(), failed);
  auto trial = trial_of(*request, program, options);
  trial.directory = *directory;
  auto figures = bench::run(*family, trial);
  if (!figures)
    return complain(figures.error(), failed);
  if (!options.given("keep"))
    std::filesystem::remove_all(*directory);
  auto report = to_json(*request, *figures);
  if (!report)
    return complain(report.error(), failed);
  if (options.flag("json"))
    std::cout << report->dump(2) << std::endl;
  else
    print(*report);
  if (!figures->digests_equal)
    return complain("The members ended with different parameters.", failed);
  return std::cout ? all_well : failed;
}

} // namespace potluck::tools
