/// `potluck bench beam`: what it takes to find the best experts in large
/// networks, in virtual time.

#include <iomanip>
#include <iostream>

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

void print(const nlohmann::ordered_json& x) {
  auto of = [&](const char* which, const char* name) {
    return x[which][name].get<double>();
  };
  std::cout << std::fixed << std::setprecision(0) << std::setw(6)
            << x["nodes"].get<std::size_t>() << std::setw(8)
            << x["grid"].get<std::string>() << std::setw(7)
            << 100 * x["failed"].get<double>() << " %" << std::setprecision(1)
            << std::setw(9) << of("cold", "look_ups") << std::setw(9)
            << of("cold", "messages") << std::setw(6) << of("cold", "hops")
            << std::setprecision(0) << std::setw(8) << of("cold", "median_ms")
            << std::setw(8) << of("cold", "p95_ms") << std::setw(8)
            << of("cold", "with_hosts_ms") << std::setw(9)
            << of("cold_dialled", "median_ms") << std::setw(8)
            << of("warm", "median_ms") << std::setprecision(2) << std::setw(8)
            << x["exact"].get<double>() << std::endl;
}

} // namespace

int bench_beam(cli::command_line& options) {
  beam_options how;
  const auto searches = options.integer("searches");
  how.searches = static_cast<std::size_t>(searches);
  const auto delay = options.integer("delay");
  how.mean_delay = std::chrono::milliseconds{delay};
  const auto quiet = options.flag("json");
  auto rows = nlohmann::ordered_json::array();
  if (!quiet)
    std::cout << " nodes    grid   failed look-ups messages  hops  median     "
                 "p95   hosts  dialled    warm   exact\n";
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
        if (!quiet)
          print(rows.back());
      }
    }
  }
  if (quiet)
    std::cout << nlohmann::ordered_json{{"mean_delay_ms", delay},
                                        {"beam", rows}}
                     .dump()
              << std::endl;
  return all_well;
}

} // namespace potluck::tools
