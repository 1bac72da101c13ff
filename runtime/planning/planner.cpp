#include "runtime/planning/planner.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/median.hpp"
#include "runtime/planning/one_place.hpp"
#include "runtime/planning/thin_lines.hpp"

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

/// A figure within bounds, in whole thousands; another where it is not known.
double believable(double x, double otherwise) {
  return std::round(std::clamp(known(x) ? x : otherwise,
                               share_planner::slowest_line,
                               share_planner::fastest_line)
                    / 1e3)
         * 1e3;
}

/// Believable figures; the median where nothing is known.
std::vector<double> believable(std::vector<double> speeds) {
  std::vector<double> measured;
  for (auto x : speeds)
    if (known(x))
      measured.push_back(x);
  const double typical = measured.empty() ? share_planner::unmeasured_line
                                          : lower_median(measured);
  for (auto& x : speeds)
    x = believable(x, typical);
  return speeds;
}

std::vector<line> lines_of(const collaboration& input) {
  double computing = 0;
  double holding = 0;
  for (const auto& x : input.peers) {
    computing += x.computes;
    holding += x.holds_model;
  }
  const auto speeds = believed_lines(input);
  std::vector<line> result;
  for (std::size_t i = 0; i < input.peers.size(); ++i) {
    double c = input.peers[i].computes;
    double m = input.peers[i].holds_model;
    // Up: the parts that others average; the means of its own to all holders.
    result.push_back({i, true, c, holding - m - c, speeds[i].upload});
    // Down: the means that others make; the parts of all others for its own.
    result.push_back({i, false, m, computing - c - m, speeds[i].download});
  }
  return result;
}

double seconds_of(const line& x, double share, double gradient_bytes) {
  return (x.fixed + x.slope * share) * gradient_bytes / x.speed;
}

double seconds_of(const planned_limit& x, const collaboration& input,
                  const std::vector<double>& shares) {
  return gradients_between(input, shares, x.from, x.to)
         * static_cast<double>(input.gradient_bytes) / x.bytes_per_second;
}

/// Those that can average for others; everybody when nobody can.
std::vector<std::size_t> reducers_of(const collaboration& input) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < input.peers.size(); ++i)
    if (input.peers[i].averages)
      result.push_back(i);
  if (result.empty())
    for (std::size_t i = 0; i < input.peers.size(); ++i)
      result.push_back(i);
  return result;
}

/// The fastest shares by the closed form; empty when there are none.
std::vector<double> fastest_of(const collaboration& input,
                               const std::vector<line>& lines) {
  // Gradients per second over the slowest line: the closed form is exact for
  // any unit, and this one needs none of the gradient's.
  std::vector<one_place_peer> peers(input.peers.size());
  for (const auto& x : lines)
    (x.upload ? peers[x.peer].up : peers[x.peer].down)
        = x.speed / share_planner::slowest_line;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    peers[i].computes = input.peers[i].computes;
    peers[i].holds = input.peers[i].holds_model;
    peers[i].averages = false;
  }
  for (auto i : reducers_of(input))
    peers[i].averages = true;
  std::vector<one_place_limit> limits;
  for (const auto& x : believed_limits(input))
    limits.push_back(
        {x.from, x.to, x.bytes_per_second / share_planner::slowest_line});
  return fastest_in_one_place(peers, limits).shares;
}

/// What does not depend on how much faster one line is than another.
std::vector<double> fixed_shares(const collaboration& input,
                                 const std::vector<line>& lines) {
  std::vector<double> result(input.peers.size(), 0);
  auto reducers = reducers_of(input);
  if (input.rule == share_rule::parameter_server) {
    std::vector<double> speeds(input.peers.size(), share_planner::fastest_line);
    for (const auto& x : lines)
      speeds[x.peer] = std::min(speeds[x.peer], x.speed);
    result[*std::max_element(
        reducers.begin(), reducers.end(),
        [&](auto a, auto b) { return speeds[a] < speeds[b]; })]
        = 1;
    return result;
  }
  for (auto i : reducers)
    result[i] = input.peers[i].holds_model;
  // Nobody who holds the model can average for others.
  if (std::all_of(result.begin(), result.end(), [](auto x) { return x == 0; }))
    for (auto i : reducers)
      result[i] = 1;
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

std::vector<line_speeds> believed_lines(const collaboration& input) {
  std::vector<double> up;
  std::vector<double> down;
  for (const auto& x : input.peers) {
    up.push_back(x.upload_bytes_per_second);
    down.push_back(x.download_bytes_per_second);
  }
  up = believable(up);
  down = believable(down);
  std::vector<line_speeds> result;
  for (std::size_t i = 0; i < up.size(); ++i)
    result.push_back({up[i], down[i]});
  return result;
}

std::vector<planned_limit> believed_limits(const collaboration& input) {
  auto result = input.limits;
  for (auto& x : result)
    x.bytes_per_second
        = believable(x.bytes_per_second, share_planner::slowest_line);
  return result;
}

double gradients_between(const collaboration& input,
                         const std::vector<double>& shares, std::size_t from,
                         std::size_t to) {
  return input.peers[from].computes * shares[to]
         + input.peers[to].holds_model * shares[from];
}

double exchange_seconds(const collaboration& input,
                        const std::vector<double>& shares) {
  double result = 0;
  for (const auto& x : lines_of(input))
    result = std::max(result,
                      seconds_of(x, shares.at(x.peer),
                                 static_cast<double>(input.gradient_bytes)));
  for (const auto& x : believed_limits(input))
    result = std::max(result, seconds_of(x, input, shares));
  return result;
}

share_plan share_planner::plan(const collaboration& input) const {
  if (input.peers.empty() || input.chunks == 0)
    throw std::invalid_argument{"A plan needs peers and chunks."};
  auto lines = lines_of(input);
  auto shares = input.rule == share_rule::planned ? fastest_of(input, lines)
                                                  : fixed_shares(input, lines);
  share_plan result;
  if (shares.empty()) {
    shares.assign(input.peers.size(), 0);
    for (auto i : reducers_of(input))
      shares[i] = 1;
    result.binding = "no shares will do, so they are equal; ";
  }
  result.chunks = whole_chunks(shares, input.chunks);
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
  const planned_limit* between = nullptr;
  const auto limits = believed_limits(input);
  for (const auto& x : limits)
    if (auto seconds = seconds_of(x, input, result.shares);
        seconds > result.predicted_seconds) {
      between = &x;
      result.predicted_seconds = seconds;
    }
  if (between != nullptr)
    result.binding += "connection from "
                      + short_name(input.peers[between->from].id) + " to "
                      + short_name(input.peers[between->to].id);
  else if (result.predicted_seconds > 0)
    result.binding += (slowest->upload ? "upload of " : "download of ")
                      + short_name(input.peers[slowest->peer].id);
  else
    result.binding += "nothing has to move";
  result.strategy = strategy_of(input, result);
  if (input.packs_thin_lines) {
    auto choice = choose_packings(input, result.shares);
    result.packings = choice.packings;
    result.predicted_seconds = choice.seconds;
  }
  return result;
}

share_plan plan(const collaboration& input) {
  return share_planner{}.plan(input);
}

} // namespace potluck
