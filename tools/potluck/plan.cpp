/// `potluck plan`: who should compute, and who average how much, on a given
/// network; and what would change if.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <vector>

#include "runtime/numbers.hpp"
#include "runtime/planning/planning_limits.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/plan_format.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

/// All of it, or none when it is longer than a file of peers may be.
std::optional<std::string> read_all(std::istream& in) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()))
         || in.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limits::plan_file_bytes)
      return std::nullopt;
  }
  return text;
}

expected<std::string> load(const std::string& path) {
  if (path.empty())
    return failure{"Name the peers with --peers FILE, or --peers - for "
                   "standard input; tools/plans has examples."};
  std::optional<std::string> text;
  if (path == "-") {
    text = read_all(std::cin);
  } else {
    std::ifstream in{path, std::ios::binary};
    if (!in)
      return failure{"--peers: the file '" + path
                     + "' cannot be read; name one that can."};
    text = read_all(in);
    if (in.bad())
      return failure{"--peers: '" + path + "' is not a file that can be read."};
  }
  if (!text)
    return failure{"--peers: there are more than "
                   + std::to_string(limits::plan_file_bytes >> 20)
                   + " MiB of peers; leave some out."};
  return *text;
}

struct answer {
  reviewed_problem reviewed;
  strategy_plan plan;
  double seconds = 0;
};

expected<answer> solve(const strategy_problem& problem, std::uint32_t chunks) {
  auto began = std::chrono::steady_clock::now();
  answer result;
  result.reviewed = review(problem);
  if (auto refused = result.reviewed.refusal())
    return failure{refused->sentence};
  // A share must be several chunks, or rounding decides.
  if (chunks == 0)
    chunks = static_cast<std::uint32_t>(std::max<std::size_t>(
        limits::planned_chunks,
        limits::planned_chunks_per_peer * problem.peers.size()));
  result.plan = plan_strategy(result.reviewed.problem, chunks);
  result.seconds
      = std::chrono::duration<double>(std::chrono::steady_clock::now() - began)
            .count();
  return result;
}

/// "1.2 steps per second instead of 1: 20% more".
std::string compared(const strategy_plan& before, const strategy_plan& after) {
  double a = before.scheduled_steps_per_second;
  double b = after.scheduled_steps_per_second;
  auto text = "what if: " + readable(b, 6) + " steps per second instead of "
              + readable(a, 6);
  if (a > 0)
    text += b >= a ? " (" + readable((b / a - 1) * 100, 3) + "% more)"
                   : " (" + readable((1 - b / a) * 100, 3) + "% fewer)";
  if (before.strategy != after.strategy)
    text += ", " + after.strategy + " instead of " + before.strategy;
  return text;
}

int run_plan(cli::command_line& options, const std::string&) {
  auto count = static_cast<std::uint32_t>(options.integer("chunks"));
  auto text = load(options.text("peers"));
  if (!text)
    return complain(text.error());
  auto problem = read_problem(*text);
  if (!problem)
    return complain("--peers: " + problem.error());
  auto changes = options.list("what-if");
  auto changed = read_problem(*text, changes);
  if (!changed)
    return complain(changed.error());
  auto found = solve(*changed, count);
  if (!found)
    return complain(found.error());
  if (options.flag("json")) {
    std::cout << to_json(found->plan, found->reviewed.findings, found->seconds)
              << std::endl;
    return std::cout ? all_well : failed;
  }
  if (!changes.empty())
    if (auto before = solve(*problem, count))
      std::cout << compared(before->plan, found->plan) << "\n";
  std::cout << to_text(found->reviewed.problem, found->plan,
                       found->reviewed.findings)
            << std::flush;
  return std::cout ? all_well : failed;
}

} // namespace

command plan_command() {
  cli::command_spec spec;
  spec.name = "plan";
  spec.summary = "Plan who computes and who averages how much, and say why";
  spec.usage = "potluck plan --peers FILE|- [OPTION]...";
  spec.options = {
      {"peers", option_kind::text, "",
       "The network, as JSON; - for standard input.", "FILE"},
      {"json", option_kind::flag, "",
       "Print the plan as one JSON object instead of a table.", ""},
      {"what-if", option_kind::list, "",
       "Change the network first; repeat it for several changes.", "CHANGE"},
      {"chunks", option_kind::integer, "0",
       "Equal parts of the gradient, each averaged in one place; 0 for 64 a "
       "peer, at least 4096.",
       "NUMBER", cli::between(0, 1e9)},
  };
  spec.notes = plan_format_help();
  return {spec, run_plan};
}

} // namespace potluck::tools
