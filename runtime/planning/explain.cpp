#include "runtime/planning/explain.hpp"

#include <algorithm>

#include "runtime/median.hpp"
#include "runtime/planning/planning_limits.hpp"

namespace potluck {

namespace {

/// So much of a line's limit counts as used up.
constexpr double full = 1 - 1e-6;

/// What the lines carry, in gradients per second.
struct carried {
  std::vector<double> up;
  std::vector<double> down;
  std::map<std::pair<std::size_t, std::size_t>, double> links; ///< Named ones.
};

carried loads_of(const explained_network& what) {
  const auto& net = what.net;
  std::size_t n = net.size();
  carried result;
  result.up.assign(n, 0);
  result.down.assign(n, 0);
  double computing = static_cast<double>(
      std::count(what.computing.begin(), what.computing.end(), true));
  if (what.rates.reduce.empty()) {
    if (what.direct.shares.empty())
      return result;
    double holders = static_cast<double>(net.holders());
    for (std::size_t i = 0; i < n; ++i) {
      double w = what.direct.shares[i];
      double c = what.computing[i];
      double m = net.holds(i);
      result.up[i] = what.direct.rate * (c * (1 - w) + (holders - m) * w);
      result.down[i] = what.direct.rate * (m * (1 - w) + (computing - c) * w);
    }
    for (const auto& [ends, limit] : net.links())
      result.links[ends]
          = what.direct.rate
            * ((what.computing[ends.first] ? what.direct.shares[ends.second]
                                           : 0)
               + (net.holds(ends.second) ? what.direct.shares[ends.first] : 0));
    return result;
  }
  double total = 0;
  for (auto r : what.rates.reduce)
    total += r;
  for (std::size_t i = 0; i < n; ++i) {
    double r = what.rates.reduce[i];
    result.up[i] = what.computing[i] ? total - r : 0;
    result.down[i] = (computing - what.computing[i]) * r;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i)
        continue;
      result.up[i] += what.rates.means[i][j];
      result.down[i] += what.rates.means[j][i];
    }
  }
  for (const auto& [ends, limit] : net.links())
    result.links[ends]
        = (what.computing[ends.first] ? what.rates.reduce[ends.second] : 0)
          + what.rates.means[ends.first][ends.second];
  return result;
}

void name_bindings(const explained_network& what, strategy_plan& plan) {
  double compute = plan.compute_steps_per_second;
  bool lines_limit = what.averaging <= compute * (1 + 1e-9);
  bool compute_limits = what.averaging >= compute * (1 - 1e-9);
  auto load = loads_of(what);
  auto used_up = [&](double carried, double limit) {
    return carried > 0 && carried >= limit * full;
  };
  for (std::size_t i = 0; i < plan.peers.size(); ++i) {
    auto& peer = plan.peers[i];
    std::string text;
    auto add
        = [&](const std::string& x) { text += text.empty() ? x : ", " + x; };
    if (compute_limits && peer.computes)
      add("compute");
    if (lines_limit && used_up(load.up[i], what.net.up(i)))
      add("upload");
    if (lines_limit && used_up(load.down[i], what.net.down(i)))
      add("download");
    peer.binding = text;
  }
  if (lines_limit)
    for (const auto& [ends, limit] : what.net.links()) {
      if (limit > 0 && !used_up(load.links[ends], limit))
        continue;
      // A blocked line binds only where nothing else explains a standstill.
      if (limit == 0 && plan.steps_per_second > 0)
        continue;
      auto& from = plan.peers[ends.first].binding;
      from += (from.empty() ? "" : ", ")
              + ("link to " + what.net.id(ends.second));
      auto& to = plan.peers[ends.second].binding;
      to += (to.empty() ? "" : ", ") + ("link from " + what.net.id(ends.first));
    }
  for (auto& x : plan.peers)
    if (x.binding.empty())
      x.binding = "-";
}

void find_gains(const explained_network& what, strategy_plan& plan) {
  double compute = plan.compute_steps_per_second;
  if (plan.steps_per_second == 0)
    return;
  double bytes = what.problem.gradient_bytes;
  bool lines_limit = what.averaging < compute;
  for (std::size_t i = 0; i < plan.peers.size(); ++i) {
    if (lines_limit && i < what.rates.upload_gain.size()) {
      plan.peers[i].upload_gain = what.rates.upload_gain[i] / bytes;
      plan.peers[i].download_gain = what.rates.download_gain[i] / bytes;
    }
    if (!lines_limit && plan.peers[i].computes)
      plan.peers[i].samples_gain = 1 / what.problem.target_batch;
  }
  std::vector<double> lines;
  for (const auto& x : what.problem.peers) {
    lines.push_back(x.upload);
    lines.push_back(x.download);
  }
  plan.auxiliary_line = lower_median(lines);
  if (!lines_limit || plan.auxiliary_line == 0
      || what.problem.peers.size() >= limits::planned_peers)
    return;
  auto more = what.problem;
  strategy_peer helper;
  // No peer has this id: ids of a problem are not empty.
  helper.upload = helper.download = plan.auxiliary_line;
  helper.computes = false;
  helper.holds_model = false;
  more.peers.push_back(helper);
  peer_network with{more};
  auto computing = what.computing;
  computing.push_back(false);
  double before = what.averaging;
  double after = 0;
  std::optional<exchange> found;
  if (with.size() <= 2 * limits::searched_peers)
    found = fastest_exchange(with, computing);
  if (found) {
    after = found->rate;
  } else {
    before = fastest_shares(what.net, what.computing).rate;
    after = fastest_shares(with, computing).rate;
  }
  plan.auxiliary_gain
      = std::max(0.0, std::min(compute, after) - std::min(compute, before));
  // The solver's rounding is no gain.
  if (plan.auxiliary_gain < 1e-9 * plan.steps_per_second)
    plan.auxiliary_gain = 0;
}

std::string name_of(const explained_network& what, const strategy_plan& plan) {
  if (plan.scheduled_steps_per_second == 0)
    return "none";
  if (!plan.relays.empty())
    return "relayed";
  if (what.scheduled == peer_network::unlimited)
    return "alone";
  std::size_t busy = 0;
  bool helpers_only = true;
  std::uint32_t helped = 0;
  std::vector<std::uint32_t> trainers;
  for (std::size_t i = 0; i < plan.peers.size(); ++i) {
    auto chunks = plan.peers[i].chunks;
    busy += chunks != 0;
    if (plan.peers[i].computes && chunks != 0)
      helpers_only = false;
    if (plan.peers[i].computes && what.net.holds(i))
      trainers.push_back(chunks);
    else
      helped += chunks;
  }
  if (busy == 1)
    return "parameter server";
  for (const auto& [ends, limit] : what.net.links())
    if (limit == 0 && what.computing[ends.first] && what.net.holds(ends.second))
      return "decentralised";
  auto ends = std::minmax_element(trainers.begin(), trainers.end());
  if (helped == 0 && !trainers.empty() && *ends.second - *ends.first <= 1)
    return "all-reduce";
  return helpers_only ? "byteps" : "mixed";
}

} // namespace

void explain(const explained_network& what, strategy_plan& plan) {
  name_bindings(what, plan);
  find_gains(what, plan);
  plan.strategy = name_of(what, plan);
}

} // namespace potluck
