/// `potluck bench beam`: what it takes to find the best experts in large
/// networks, in virtual time.

#include <nlohmann/json.hpp>

#include "runtime/experts/expert_uid.hpp"
#include "tools/lab/bench/beam_trials.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using bench::beam_costs;
using bench::beam_options;

constexpr std::int64_t most_nodes = 100'000; // 5 GB of routing tables.
constexpr double shares_failed[] = {0, 0.1};

double milliseconds(duration x) {
  return std::chrono::duration<double, std::milli>(x).count();
}

nlohmann::ordered_json to_object(const beam_costs& x) {
  return {{"look_ups", x.look_ups},
          {"messages", x.messages},
          {"hops", x.hops},
          {"median_ms", milliseconds(x.median)},
          {"p95_ms", milliseconds(x.p95)},
          {"with_hosts_ms", milliseconds(x.with_hosts)}};
}

/// One network, and the two ways of reaching its nodes.
nlohmann::ordered_json measure(beam_options how, const std::string& grid) {
  how.dials = false;
  const auto at_hand = bench::search_experts(how);
  how.dials = true;
  const auto dialled = bench::search_experts(how);
  return {{"nodes", how.nodes},
          {"grid", grid},
          {"failed", how.failed},
          {"searches", at_hand.searches},
          {"exact", at_hand.exact},
          {"hosts_found", at_hand.hosts},
          {"cold", to_object(at_hand.cold)},
          {"warm", to_object(at_hand.warm)},
          {"cold_dialled", to_object(dialled.cold)},
          {"warm_dialled", to_object(dialled.warm)}};
}

} // namespace

int bench_beam(cli::command_line& options) {
  beam_options how;
  const auto searches = options.integer("searches");
  how.searches = static_cast<std::size_t>(searches);
  const auto delay = options.integer("delay");
  how.mean_delay = std::chrono::milliseconds{delay};
  auto rows = nlohmann::ordered_json::array();
  for (const auto& grid : options.list("grids")) {
    auto sizes = parse_expert_grid(grid);
    if (!sizes)
      return complain("--grids: " + sizes.error());
    how.grid = *sizes;
    for (const auto& text : options.list("nodes")) {
      std::int64_t nodes = 0;
      if (text.find_first_not_of("0123456789") == std::string::npos
          && text.size() <= 6)
        nodes = std::stoll("0" + text);
      if (nodes <= 20 || nodes > most_nodes)
        return complain("--nodes must be numbers from 21 to 100000.");
      how.nodes = static_cast<std::size_t>(nodes);
      for (auto failed : shares_failed) {
        how.failed = failed;
        rows.push_back(measure(how, grid));
      }
    }
  }
  return report(options, {{"mean_delay_ms", delay}, {"beam", rows}});
}

} // namespace potluck::tools
