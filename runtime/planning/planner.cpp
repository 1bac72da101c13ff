#include "runtime/planning/planner.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "runtime/planning/linear_program.hpp"

namespace potluck {

namespace {

/// One direction of one peer's line: moving the gradient's share w there costs
/// (fixed + slope w) gradients.
struct line {
  std::size_t peer;
  bool upload;
  double fixed;
  double slope;
  double speed; ///< Bytes per second, believable and whole.
};

bool known(double x) {
  return std::isfinite(x) && x > 0;
}

/// Believable figures, in whole thousands; the median where nothing is known.
std::vector<double> believable(std::vector<double> speeds) {
  std::vector<double> measured;
  for (auto x : speeds)
    if (known(x))
      measured.push_back(x);
  double typical = share_planner::unmeasured_line;
  if (!measured.empty()) {
    auto middle = measured.begin()
                  + static_cast<std::ptrdiff_t>((measured.size() - 1) / 2);
    std::nth_element(measured.begin(), middle, measured.end());
    typical = *middle;
  }
  for (auto& x : speeds) {
    x = std::clamp(known(x) ? x : typical, share_planner::slowest_line,
                   share_planner::fastest_line);
    x = std::round(x / 1e3) * 1e3;
  }
  return speeds;
}

std::vector<line> lines_of(const collaboration& input) {
  std::vector<double> up;
  std::vector<double> down;
  double computing = 0;
  double holding = 0;
  for (const auto& x : input.peers) {
    up.push_back(x.upload_bytes_per_second);
    down.push_back(x.download_bytes_per_second);
    computing += x.computes;
    holding += x.holds_model;
  }
  up = believable(up);
  down = believable(down);
  std::vector<line> result;
  for (std::size_t i = 0; i < input.peers.size(); ++i) {
    double c = input.peers[i].computes;
    double m = input.peers[i].holds_model;
    // Up: the parts that others average; the means of its own to all holders.
    result.push_back({i, true, c, holding - m - c, up[i]});
    // Down: the means that others make; the parts of all others for its own.
    result.push_back({i, false, m, computing - c - m, down[i]});
  }
  return result;
}

double seconds_of(const line& x, double share, double gradient_bytes) {
  return (x.fixed + x.slope * share) * gradient_bytes / x.speed;
}

/// Those that can average for others; everybody when nobody listens.
std::vector<std::size_t> reducers_of(const collaboration& input) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < input.peers.size(); ++i)
    if (input.peers[i].listens)
      result.push_back(i);
  if (result.empty())
    for (std::size_t i = 0; i < input.peers.size(); ++i)
      result.push_back(i);
  return result;
}

/// The fastest shares, or none when the solver gives up.
std::optional<std::vector<double>>
fastest_shares(const std::vector<line>& lines,
               const std::vector<std::size_t>& reducers, std::size_t peers) {
  // Times are in units of one gradient over the slowest line that must carry
  // one whatever the shares: no time is much below one, and rows are scaled so
  // that no coefficient is much above the number of peers.
  double unit = share_planner::fastest_line;
  for (const auto& x : lines)
    if (x.fixed > 0)
      unit = std::min(unit, x.speed);
  std::vector<std::size_t> variable(peers, 0); // 0: averages nothing.
  for (std::size_t k = 0; k < reducers.size(); ++k)
    variable[reducers[k]] = k + 1;
  linear_program program{reducers.size() + 1}; // Variable 0 is the time.
  program.cost(0, 1);
  std::vector<std::pair<std::size_t, double>> all;
  for (std::size_t k = 1; k <= reducers.size(); ++k)
    all.emplace_back(k, 1.0);
  program.require(all, linear_program::relation::equal, 1);
  for (const auto& x : lines) {
    double scale = std::min(1.0, unit / x.speed);
    std::vector<std::pair<std::size_t, double>> terms{
        {0, scale * x.speed / unit}};
    if (variable[x.peer] != 0)
      terms.emplace_back(variable[x.peer], -x.slope * scale);
    program.require(terms, linear_program::relation::at_least, x.fixed * scale);
  }
  auto solved = program.solve();
  if (!solved)
    return std::nullopt;
  std::vector<double> result(peers, 0);
  for (std::size_t k = 0; k < reducers.size(); ++k)
    result[reducers[k]] = std::clamp(solved->values[k + 1], 0.0, 1.0);
  // Often many shares are equally fast. Of those, take the ones in proportion
  // to what each peer could average in that time: it leaves slack everywhere,
  // and does not depend on the corner at which the simplex method stopped.
  double time = solved->objective * (1 + 1e-9);
  std::vector<double> most(peers, 0);
  std::vector<double> least(peers, 0);
  for (auto i : reducers)
    most[i] = 1;
  for (const auto& x : lines) {
    double room = time * x.speed / unit - x.fixed;
    if (x.slope > 0)
      most[x.peer] = std::min(most[x.peer], std::max(room, 0.0) / x.slope);
    else if (x.slope < 0)
      least[x.peer] = std::max(least[x.peer], room / x.slope);
  }
  double total = 0;
  for (auto x : most)
    total += x;
  bool possible = total > 0;
  for (std::size_t i = 0; i < peers && possible; ++i)
    possible = most[i] / total >= least[i];
  if (possible && total >= 1)
    for (std::size_t i = 0; i < peers; ++i)
      result[i] = most[i] / total;
  return result;
}

std::string strategy_of(const collaboration& input, const share_plan& x) {
  std::size_t busy = 0;
  bool helpers_only = true;
  std::vector<std::uint32_t> trainers;
  std::uint32_t helped = 0;
  for (std::size_t i = 0; i < x.chunks.size(); ++i) {
    busy += x.chunks[i] != 0;
    if (input.peers[i].computes && x.chunks[i] != 0)
      helpers_only = false;
    if (input.peers[i].holds_model)
      trainers.push_back(x.chunks[i]);
    else
      helped += x.chunks[i];
  }
  auto ends = std::minmax_element(trainers.begin(), trainers.end());
  bool even
      = helped == 0 && !trainers.empty() && *ends.second - *ends.first <= 1;
  if (busy == 1 && x.chunks.size() > 1)
    return "parameter server";
  if (even)
    return "all-reduce";
  return helpers_only ? "byteps" : "mixed";
}

} // namespace

double exchange_seconds(const collaboration& input,
                        const std::vector<double>& shares) {
  double result = 0;
  for (const auto& x : lines_of(input))
    result = std::max(result,
                      seconds_of(x, shares.at(x.peer),
                                 static_cast<double>(input.gradient_bytes)));
  return result;
}

share_plan share_planner::plan(const collaboration& input) const {
  if (input.peers.empty() || input.chunks == 0)
    throw std::invalid_argument{"A plan needs peers and chunks."};
  auto lines = lines_of(input);
  auto reducers = reducers_of(input);
  auto shares = fastest_shares(lines, reducers, input.peers.size());
  share_plan result;
  if (!shares) {
    shares = std::vector<double>(input.peers.size(), 0);
    for (auto i : reducers)
      (*shares)[i] = 1;
    result.binding = "the solver gave up, so shares are equal; ";
  }
  result.chunks = whole_chunks(*shares, input.chunks);
  for (auto x : result.chunks)
    result.shares.push_back(static_cast<double>(x) / input.chunks);
  const line* slowest = nullptr;
  for (const auto& x : lines) {
    double seconds = seconds_of(x, result.shares[x.peer],
                                static_cast<double>(input.gradient_bytes));
    if (!slowest || seconds > result.predicted_seconds) {
      slowest = &x;
      result.predicted_seconds = seconds;
    }
  }
  if (result.predicted_seconds > 0)
    result.binding += (slowest->upload ? "upload of " : "download of ")
                      + short_name(input.peers[slowest->peer].id);
  else
    result.binding += "nothing has to move";
  result.strategy = strategy_of(input, result);
  return result;
}

share_plan plan(const collaboration& input) {
  return share_planner{}.plan(input);
}

digest plan_digest(const group_contract& contract) {
  return plan_digest(plan(collaboration_of(contract)));
}

} // namespace potluck
