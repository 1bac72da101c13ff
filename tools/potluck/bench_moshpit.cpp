/// `potluck bench moshpit`: in how many rounds groups that are drawn anew bring
/// everybody to the mean, though some fail in each.

#include <iomanip>
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tools/lab/bench/moshpit_trials.hpp"
#include "tools/potluck/bench.hpp"
#include "tools/potluck/commands.hpp"

namespace potluck::tools {

namespace {

using bench::moshpit_figures;
using bench::moshpit_options;

// What was published, and so the goal: in as many rounds with as many peers of
// whom as many fail. By then a restarted all-reduce has not got through.
constexpr std::size_t goal_peers = 512;
constexpr double goal_failures = 0.01;
constexpr double goal_rounds = 9;
constexpr double published_rounds = 8.8;
constexpr double published_restarted = 41.7;

constexpr std::int64_t most_peers = 65'536;

bool has_goal(const moshpit_options& how) {
  return how.peers == goal_peers && how.failures == goal_failures;
}

std::string name_of(const std::vector<std::size_t>& grid) {
  std::ostringstream result;
  for (auto side : grid)
    result << (result.tellp() > 0 ? "x" : "") << side;
  return result.str();
}

void print(const moshpit_options& how, const moshpit_figures& x) {
  std::cout << how.peers << " peers on a grid of " << name_of(x.grid) << ", "
            << 100 * how.failures << " % fail in a round, " << how.trials
            << " trials\n\nround  squared distance to the mean\n";
  for (std::size_t i = 0; i < x.left.size(); ++i)
    std::cout << std::setw(5) << i + 1 << "  " << std::scientific
              << std::setprecision(1) << x.left[i] << '\n';
  std::cout << std::defaultfloat << std::setprecision(3) << "\nmoshpit: ";
  if (x.reached)
    std::cout << x.rounds << " rounds to " << bench::moshpit_precision
              << ", at most " << x.most;
  else
    std::cout << "some need more than " << bench::most_moshpit_rounds
              << " rounds";
  if (has_goal(how))
    std::cout << " (goal: " << goal_rounds
              << " at most; published: " << published_rounds << ")";
  std::cout << "\nrestarted all-reduce: ";
  if (x.succeeded)
    std::cout << x.restarted << " rounds";
  else
    std::cout << "some need more than " << bench::most_restarts << " rounds";
  if (has_goal(how))
    std::cout << " (published: " << published_restarted << ")";
  std::cout << std::endl;
}

nlohmann::ordered_json to_object(const moshpit_options& how,
                                 const moshpit_figures& x, bool missed) {
  nlohmann::ordered_json result{{"peers", how.peers},
                                {"group_size", how.group_size},
                                {"grid", name_of(x.grid)},
                                {"failures", how.failures},
                                {"trials", how.trials},
                                {"precision", bench::moshpit_precision},
                                {"reached", x.reached},
                                {"rounds", x.rounds},
                                {"most_rounds", x.most},
                                {"restarted_succeeded", x.succeeded},
                                {"restarted_rounds", x.restarted},
                                {"left", x.left}};
  if (has_goal(how)) {
    result["goal"] = goal_rounds;
    result["goal_missed"] = missed;
  }
  return result;
}

} // namespace

int bench_moshpit(cli::command_line& options) {
  moshpit_options how;
  if (options.given("peers")) {
    const auto peers = options.integer("peers");
    if (peers < 2 || peers > most_peers)
      return complain("--peers must be a number from 2 to 65536.");
    how.peers = static_cast<std::size_t>(peers);
  }
  const auto group_size = options.integer("group-size");
  how.group_size = static_cast<std::size_t>(group_size);
  how.failures = options.real("failures");
  if (!(how.failures >= 0 && how.failures < 1))
    return complain("--failures must be a number from 0 to less than 1: "
                    "0.01 is 1 %.");
  const auto trials = options.integer("trials");
  how.trials = static_cast<std::size_t>(trials);
  const auto figures = bench::average_in_moshpit(how);
  const auto missed
      = has_goal(how) && !(figures.reached && figures.rounds <= goal_rounds);
  if (options.flag("json"))
    std::cout << to_object(how, figures, missed).dump() << std::endl;
  else
    print(how, figures);
  return missed ? failed : all_well;
}

} // namespace potluck::tools
