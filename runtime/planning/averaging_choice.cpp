#include "runtime/planning/averaging_choice.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "runtime/cells/mean_chain.hpp"
#include "runtime/config.hpp"
#include "runtime/lower_median.hpp"
#include "runtime/moshpit/moshpit_groups.hpp"
#include "runtime/numbers.hpp"
#include "runtime/planning/planner.hpp"

namespace potluck {

namespace {

/// Values that a download of a state has for each of a gradient.
constexpr double state_gradients = 3;
/// Beyond, nothing is compared: no group of ours stands for so many.
constexpr double most_trainers = 20'000;

/// Of a line that planners would believe; 0: unknown.
double believed(double x) {
  return std::isfinite(x) && x > 0 ? std::clamp(x, share_planner::slowest_line,
                                                share_planner::fastest_line)
                                   : 0;
}

/// What the middle member is like.
struct crowd {
  double members = 0; ///< Trainers in the group.
  line_speeds open;   ///< A member's line.
  line_speeds apart;  ///< Of a contributor that cannot be reached.
  double speed = 0;   ///< Samples a second of a member's cell.
  double contributors = 0;
  double out_of_reach = 0; ///< Of these.

  double trainers() const {
    return members * (1 + contributors);
  }
};

/// Of what members say, where most of them do; 0: unknown.
template <class Figure>
double middle_of(const group_contract& contract, Figure figure) {
  std::vector<double> known;
  std::size_t asked = 0;
  for (auto& x : contract.members) {
    if (x.role != role::trainer)
      continue;
    ++asked;
    if (auto y = figure(x); std::isfinite(y) && y > 0)
      known.push_back(y);
  }
  return 2 * known.size() > asked ? lower_median(known) : 0;
}

crowd crowd_of(const group_contract& contract) {
  crowd result;
  std::vector<double> contributors, apart, up, down;
  for (auto& x : contract.members) {
    if (x.role != role::trainer)
      continue;
    ++result.members;
    contributors.push_back(x.cell.contributors);
    apart.push_back(std::min(x.cell.apart, x.cell.contributors));
    if (auto y = believed(x.cell.upload_bytes_per_second); y > 0)
      up.push_back(y);
    if (auto y = believed(x.cell.download_bytes_per_second); y > 0)
      down.push_back(y);
  }
  result.contributors = lower_median(contributors);
  result.out_of_reach = lower_median(apart);
  result.open
      = {believed(middle_of(contract,
                            [](auto& x) { return x.upload_bytes_per_second; })),
         believed(middle_of(
             contract, [](auto& x) { return x.download_bytes_per_second; }))};
  // Those of whom nobody knows are like the members.
  result.apart = {up.empty() ? result.open.upload : lower_median(up),
                  down.empty() ? result.open.download : lower_median(down)};
  result.speed
      = middle_of(contract, [](auto& x) { return x.cell.samples_per_second; });
  return result;
}

/// An exchange among so many of either kind.
double group_seconds(double open, const line_speeds& line, double apart,
                     const line_speeds& their_line, double bytes) {
  constexpr std::uint32_t chunks_a_member = 64;
  collaboration group;
  group.gradient_bytes = static_cast<std::uint64_t>(std::min(bytes, 1e18));
  auto add = [&](double count, const line_speeds& speeds, bool listens) {
    planned_peer x;
    x.listens = listens;
    x.upload_bytes_per_second = speeds.upload;
    x.download_bytes_per_second = speeds.download;
    group.peers.insert(group.peers.end(), static_cast<std::size_t>(count), x);
  };
  add(open, line, true);
  add(apart, their_line, false);
  if (group.peers.size() < 2)
    return 0;
  group.chunks
      = chunks_a_member * static_cast<std::uint32_t>(group.peers.size());
  return plan(group).predicted_seconds;
}

/// Contributors' gradients to their sponsors, these among themselves, and the
/// mean back: whoever can be dialled passes it on in a chain (mean_chain).
double two_levels(const crowd& x, double bytes) {
  const auto k = x.contributors;
  const std::chrono::duration<double> short_enough = limits::chained_mean;
  auto copies = k;
  if (2 * bytes >= short_enough.count() * x.open.upload)
    copies = x.out_of_reach
             + static_cast<double>(
                 chains_for(static_cast<std::size_t>(k - x.out_of_reach),
                            bytes / x.open.upload));
  const auto gathering
      = std::max(k * bytes / x.open.download, bytes / x.apart.upload);
  const auto back
      = std::max(copies * bytes / x.open.upload, bytes / x.apart.download);
  return gathering + group_seconds(x.members, x.open, 0, {}, bytes) + back;
}

/// A drawn group of the usual kind, with parameters behind the gradient, and
/// the states that those who missed a step download from who can be dialled.
double redrawn(const crowd& x, std::size_t group_size, double bytes,
               double& lost) {
  const auto n = std::floor(x.trainers());
  const auto hidden = std::min(n - 1, x.members * x.out_of_reach);
  const moshpit_grid grid{static_cast<std::size_t>(n), group_size};
  const auto size = static_cast<double>(grid.sides().front());
  const auto apart = std::min(size - 1, size * hidden / n);
  // Nobody in a group can be dialled.
  double nobody = 1;
  for (double i = 0; i < size; ++i)
    nobody *= std::max(0.0, hidden - i) / (n - i);
  const auto lost_apart = lost_steps_apart + (1 - lost_steps_apart) * nobody;
  lost = (hidden * lost_apart + (n - hidden) * lost_steps_open) / n;
  const auto repair
      = lost * n * state_gradients * bytes / ((n - hidden) * x.open.upload);
  auto with = [&](double so_many) {
    return group_seconds(size - so_many, x.open, so_many, x.apart, 2 * bytes);
  };
  const auto fewer = std::floor(apart);
  const auto more = std::min(size - 1, fewer + 1);
  const auto round
      = (fewer + 1 - apart) * with(fewer) + (apart - fewer) * with(more);
  return moshpit_is_slower * (round + repair);
}

std::string seconds(double x) {
  return readable(x, 2) + " s";
}

} // namespace

std::string to_string(averaging_way x) {
  switch (x) {
    case averaging_way::one_group:
      return "one group";
    case averaging_way::two_levels:
      return "two levels";
    case averaging_way::moshpit:
      return "moshpit";
  }
  throw std::logic_error{"a way of averaging has no name"};
}

averaging_choice choose_averaging(const group_contract& contract,
                                  std::size_t group_size,
                                  const std::string& obstacle) {
  averaging_choice result;
  const auto x = crowd_of(contract);
  std::uint64_t contributors = 0;
  double samples = 0;
  for (auto& m : contract.members) {
    contributors += m.role == role::trainer ? m.cell.contributors : 0;
    samples += static_cast<double>(m.samples);
  }
  const auto members = std::to_string(static_cast<std::uint64_t>(x.members));
  const auto most = std::to_string(group_size);
  if (contributors == 0) {
    result.compared = true;
    result.why = members + " trainers fit into a group of " + most;
    return result;
  }
  result.way = averaging_way::two_levels;
  const auto crowd = std::to_string(contributors);
  const auto through = " contribute through its " + members + " members";
  result.why = static_cast<double>(contributors) + x.members
                       > static_cast<double>(group_size)
                   ? crowd + " trainers beyond a group of " + most + through
                   : crowd + " trainers of a group of at most " + most
                         + " that others cannot connect to" + through;
  const auto bytes
      = static_cast<double>(contract.gradient_values) * sizeof(float);
  if (x.open.upload == 0 || x.open.download == 0 || x.trainers() > most_trainers
      || bytes == 0)
    return result;
  result.one_group_seconds
      = group_seconds(std::floor(x.trainers()), x.open, 0, {}, bytes);
  result.two_levels_seconds = two_levels(x, bytes);
  result.why += "; averaging takes about " + seconds(result.two_levels_seconds)
                + " a step, one group of" + " all would take "
                + seconds(result.one_group_seconds)
                + " if they reached each other";
  if (x.contributors == 0 || x.out_of_reach == 0) {
    result.compared = true;
    result.why += "; hardly any of them cannot be connected to, so it is a "
                  "matter of size";
    return result;
  }
  if (x.trainers() <= static_cast<double>(group_size)) {
    result.compared = true;
    result.why += "; redrawn groups would be one and the same";
    return result;
  }
  if (x.members < 2) // It would decide for all.
    return result;
  result.moshpit_seconds = redrawn(x, group_size, bytes, result.lost);
  result.why += "; redrawn groups would take " + seconds(result.moshpit_seconds)
                + " and lose " + readable(100 * result.lost, 2)
                + " % of the samples";
  if (!obstacle.empty()) {
    result.compared = true;
    result.why += ", but " + obstacle;
    return result;
  }
  if (x.speed == 0)
    return result;
  result.compared = true;
  const auto computing = samples / (x.speed * x.members);
  result.exact_step_seconds = computing + result.two_levels_seconds;
  result.moshpit_step_seconds
      = computing / (1 - result.lost) + result.moshpit_seconds;
  result.why += ": with computing, " + seconds(result.moshpit_step_seconds)
                + " a step instead of " + seconds(result.exact_step_seconds);
  if (result.exact_step_seconds
      < moshpit_is_worth * result.moshpit_step_seconds) {
    result.why += ", which is not worth giving up equal parameters";
    return result;
  }
  result.way = averaging_way::moshpit;
  return result;
}

} // namespace potluck
