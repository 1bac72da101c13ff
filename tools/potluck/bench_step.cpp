/// `potluck bench step`: how long a whole global step takes, with real peers
/// whose computing is a sleep, next to what computing alone would take.

#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/lab/bench/averaging_trial.hpp"
#include "tools/lab/bench/step_member.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/work_directory.hpp"

namespace potluck::tools {

namespace {

/// Some peers may come in the middle of the first ones, which have no rounds
/// before them to learn from either.
constexpr std::uint64_t first_steps = 2;

struct step_request {
  std::uint32_t peers = 4;
  std::uint64_t steps = 0; ///< The first ones included.
  bench::step_member_config member;
};

expected<step_request> step_request_from(const cli::command_line& options) {
  step_request result;
  auto threads = options.integer("threads");
  result.peers = static_cast<std::uint32_t>(options.integer("peers"));
  result.steps
      = static_cast<std::uint64_t>(options.integer("rounds")) + first_steps;
  auto& member = result.member;
  member.members = result.peers;
  member.values = static_cast<std::uint64_t>(options.real("megabytes") * 1e6
                                             / sizeof(float));
  member.batch = static_cast<std::uint32_t>(options.integer("batch"));
  member.batch_seconds = options.real("batch-seconds");
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

} // namespace

int bench_step(cli::command_line& options, const std::string& program) {
  auto request = step_request_from(options);
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
  bench::averaging_trial trial;
  trial.commands = member_commands(options, program, request->peers);
  trial.contact_option = "--contact=";
  trial.directory = *directory;
  trial.name = "member";
  trial.rounds = request->steps;
  trial.may_miss = first_steps;
  auto figures = bench::run(*family, trial);
  if (!figures)
    return complain(figures.error(), failed);
  if (!options.given("keep"))
    std::filesystem::remove_all(*directory);
  auto result = to_json(*request, *figures);
  if (!result)
    return complain(result.error(), failed);
  if (!figures->digests_equal)
    complain("The members ended with different parameters.");
  return report(options, *result, figures->digests_equal);
}

} // namespace potluck::tools
