#include <algorithm>
#include <numeric>
#include <tuple>

#include "runtime/planning/linear_program.hpp"
#include "runtime/planning/planning_limits.hpp"
#include "runtime/planning/who_computes.hpp"

namespace potluck {

namespace {

using relation = linear_program::relation;
using terms = std::vector<std::pair<std::size_t, double>>;

/// Whether others hold the model, so that k must upload when it computes.
bool must_upload(const peer_network& net, std::size_t k) {
  return net.holders() > (net.holds(k) ? 1u : 0u);
}

bool may_compute(const peer_network& net, std::size_t k) {
  return net.computes(k) != false;
}

/// Peers that are joined in the program: their number, and the means of their
/// figures. Their samples per second are the most of any, which only raises
/// the bound.
struct group {
  double peers = 0;
  double up = 0;
  double down = 0;
  double compute = 0;
  bool yes = false;  ///< All compute.
  bool open = false; ///< All are to be decided.
  double holds = 0;
  bool averages = true;
};

std::vector<group> groups_of(const peer_network& net, double unit) {
  std::vector<std::size_t> order(net.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto kind = [&](std::size_t i) {
    int computes = net.computes(i) == true    ? 2
                   : net.computes(i) == false ? 0
                                              : 1;
    return std::make_tuple(computes, net.holds(i), net.listens(i));
  };
  // Figures beyond what the program can use count as equal.
  auto enough = 2.0 * static_cast<double>(net.size()) * unit;
  auto up = [&](std::size_t i) { return std::min(net.up(i), enough); };
  auto down = [&](std::size_t i) { return std::min(net.down(i), enough); };
  auto speed = [&](std::size_t i) { return std::min(net.compute(i), unit); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(kind(a), up(a), down(a), speed(a), a)
           < std::make_tuple(kind(b), up(b), down(b), speed(b), b);
  });
  std::size_t most = std::max<std::size_t>(
      1, (net.size() + limits::bound_groups - 1) / limits::bound_groups);
  std::vector<group> result;
  for (std::size_t at = 0; at < order.size(); ++at) {
    auto i = order[at];
    if (at == 0 || kind(i) != kind(order[at - 1])
        || result.back().peers >= static_cast<double>(most))
      result.emplace_back();
    auto& g = result.back();
    g.peers += 1;
    g.up += up(i);
    g.down += down(i);
    g.compute = std::max(g.compute, speed(i));
    g.yes = net.computes(i) == true;
    g.open = !net.computes(i);
    g.holds = net.holds(i);
    g.averages = net.listens(i);
  }
  for (auto& g : result) {
    g.up /= g.peers;
    g.down /= g.peers;
  }
  return result;
}

/// The fewest computing peers whose samples give this rate.
double fewest_for(const peer_network& net, double rate) {
  double sum = 0;
  double result = 0;
  std::vector<double> open;
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (net.computes(i) == true) {
      sum += net.compute(i);
      result += 1;
    } else if (!net.computes(i)) {
      open.push_back(net.compute(i));
    }
  }
  std::sort(open.begin(), open.end(), std::greater<>{});
  for (auto s : open) {
    if (sum >= rate)
      break;
    sum += s;
    result += 1;
  }
  return result;
}

} // namespace

double scanned_bound(const peer_network& net) {
  // Two or more compute: then every holder downloads a whole mean. At a rate
  // of v, only those compute whose upload carries v.
  constexpr auto unlimited = peer_network::unlimited;
  double given = 0;
  double slowest = unlimited;
  std::size_t forced = 0;
  std::vector<std::pair<double, double>> open; // upload, compute
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (!may_compute(net, i))
      continue;
    double up = must_upload(net, i) ? net.up(i) : unlimited;
    if (net.computes(i) == true) {
      given += net.compute(i);
      slowest = std::min(slowest, up);
      ++forced;
    } else {
      open.emplace_back(up, net.compute(i));
    }
  }
  std::sort(open.begin(), open.end(), std::greater<>{});
  double many = std::min(given, slowest);
  double sum = given;
  for (const auto& [up, compute] : open) {
    sum += compute;
    many = std::max(many, std::min({sum, up, slowest}));
  }
  double least = unlimited; // The least download of a holder, and the next.
  double next = unlimited;
  std::size_t least_at = net.size();
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (!net.holds(i))
      continue;
    if (net.down(i) < least) {
      next = least;
      least = net.down(i);
      least_at = i;
    } else {
      next = std::min(next, net.down(i));
    }
  }
  many = std::min(many, least);
  // One alone computes: it needs no download itself. Unless it is the one with
  // the least download, the bound above holds for it, too.
  if (forced > 1 || least_at == net.size() || !may_compute(net, least_at)
      || (forced == 1 && net.computes(least_at) != true))
    return many;
  double alone = net.compute(least_at);
  if (must_upload(net, least_at))
    alone = std::min({alone, net.up(least_at), next});
  return std::max(many, alone);
}

double summed_bound(const peer_network& net, double least) {
  double unit = scanned_bound(net);
  if (unit <= least || net.holders() == 0 || unit == 0
      || unit == peer_network::unlimited)
    return unit;
  auto groups = groups_of(net, unit);
  double holders = static_cast<double>(net.holders());
  double computing = fewest_for(net, std::max(least, 0.0));
  // One peer alone that computes and holds needs no download: left to the
  // scanned bound.
  if (computing < 2)
    return unit;
  // For each group, and its average peer: r, the rate at which it averages; G,
  // what it uploads of means; A, of parts; D, what it downloads of means; z,
  // what it is excused from; c, whether it computes.
  enum part { r, G, A, D, z, c, parts };
  auto column = [&](std::size_t g, part x) { return 2 + g * parts + x; };
  linear_program program{2 + groups.size() * parts};
  // 0: the rate v. 1: the sum R of all rates of averaging.
  program.cost(0, -1);
  program.limit(0, 1);
  terms sum{{1, -1.0}};
  terms samples{{0, 1.0}};
  terms means;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& g = groups[i];
    auto at = [&](part x) { return column(i, x); };
    program.limit(at(r), g.averages ? 1 : 0);
    program.limit(at(c), g.yes || g.open ? 1 : 0);
    if (g.yes)
      program.require({{at(c), 1.0}}, relation::at_least, 1);
    sum.emplace_back(at(r), g.peers);
    samples.emplace_back(at(c), -g.peers * g.compute / unit);
    means.emplace_back(at(G), g.peers);
    means.emplace_back(at(D), -g.peers);
    program.require({{at(z), 1.0}, {at(c), 1.0}}, relation::at_most, 1);
    program.require({{at(r), 1.0}, {0, -1.0}}, relation::at_most, 0);
    // What it uploads: its parts, to all others that average, and means.
    program.require({{at(A), 1.0},
                     {1, -1.0},
                     {at(r), 1.0},
                     {at(z), g.yes ? 0.0 : static_cast<double>(net.size())}},
                    relation::at_least, 0);
    program.require({{at(A), 1.0}, {0, -1.0}, {at(r), 1.0}, {at(z), 1.0}},
                    relation::at_least, 0);
    program.require({{at(G), 1.0}, {at(r), -(holders - g.holds)}},
                    relation::at_most, 0);
    program.require({{at(A), 1.0}, {at(G), 1.0}}, relation::at_most,
                    g.up / unit);
    // What it downloads: the parts of all others that compute, and means.
    double others = std::max(0.0, computing - (g.yes || g.open ? 1 : 0));
    program.require({{at(D), 1.0}, {at(r), others}}, relation::at_most,
                    g.down / unit);
    program.require({{at(D), 1.0}, {0, -g.holds}, {at(r), g.holds}},
                    relation::at_least, 0);
  }
  program.require(std::move(sum), relation::equal, 0);
  program.require({{1, 1.0}, {0, -1.0}}, relation::at_least, 0);
  program.require(std::move(means), relation::at_least, 0);
  program.require(std::move(samples), relation::at_most, 0);
  auto found = program.solve();
  if (!found)
    return unit;
  double result = std::clamp(-found->objective, 0.0, 1.0) * unit;
  // The solver's tolerance must not make a bound of what is none.
  return std::min(unit, std::max(least, result * (1 + 1e-7)));
}

} // namespace potluck
