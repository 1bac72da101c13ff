#include "runtime/planning/shares.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/planning/linear_program.hpp"
#include "runtime/planning/one_place.hpp"

namespace potluck {

namespace {

using relation = linear_program::relation;
using terms = std::vector<std::pair<std::size_t, double>>;
using pair_of_peers = std::pair<std::size_t, std::size_t>;

/// What one gradient a second loads on the lines, as sums over peers of
/// coefficient * share. Only what has a coefficient stands here.
struct loads {
  std::vector<terms> up;
  std::vector<terms> down;
  std::map<pair_of_peers, terms> links;
};

bool connected(const peer_network& net, std::size_t from, std::size_t to) {
  return net.up(from) > 0 && net.down(to) > 0 && net.link(from, to) > 0;
}

/// Whether i can get every part and everybody every mean of i.
bool may_average(const peer_network& net, const peer_flags& computing,
                 const relay_routes* routes, std::size_t i) {
  if (!net.listens(i) && net.size() > 1)
    return false;
  for (std::size_t k = 0; k < net.size(); ++k) {
    if (k == i)
      continue;
    if (computing[k]
        && (routes ? routes->to[i][k] == k : !connected(net, k, i)))
      return false;
    if (net.holds(k)
        && (routes ? routes->from[i][k] == k : !connected(net, i, k)))
      return false;
  }
  return true;
}

/// The loads of the whole direct exchange. The sum of all shares stands as the
/// share of one more peer, behind the last: a row then has few terms.
loads direct_loads(const peer_network& net, const peer_flags& computing,
                   const peer_flags& averaging) {
  loads result;
  std::size_t n = net.size();
  result.up.resize(n);
  result.down.resize(n);
  double computes = static_cast<double>(
      std::count(computing.begin(), computing.end(), true));
  double holds = static_cast<double>(net.holders());
  for (std::size_t i = 0; i < n; ++i) {
    double c = computing[i];
    double m = net.holds(i);
    result.up[i].emplace_back(n, c);
    result.down[i].emplace_back(n, m);
    if (averaging[i]) {
      result.up[i].emplace_back(i, holds - m - c);
      result.down[i].emplace_back(i, computes - c - m);
    }
  }
  for (const auto& [ends, limit] : net.links()) {
    auto [from, to] = ends;
    auto& row = result.links[ends];
    if (computing[from] && averaging[to])
      row.emplace_back(to, 1.0);
    if (net.holds(to) && averaging[from])
      row.emplace_back(from, 1.0);
  }
  return result;
}

void add_relayed(const peer_network& net, const peer_flags& computing,
                 const relay_routes& routes, std::size_t i, loads& x) {
  auto carry = [&](std::size_t from, std::size_t to, double gradients) {
    x.up[from].emplace_back(i, gradients);
    x.down[to].emplace_back(i, gradients);
    if (net.links().count({from, to}) != 0)
      x.links[{from, to}].emplace_back(i, gradients);
  };
  // Every part travels by itself; a mean travels each line once.
  std::map<pair_of_peers, double> parts;
  std::map<pair_of_peers, double> means;
  for (std::size_t k = 0; k < net.size(); ++k) {
    if (k == i)
      continue;
    if (computing[k])
      for (auto here = k; here != i; here = routes.to[i][here])
        parts[{here, routes.to[i][here]}] += 1;
    if (net.holds(k))
      for (auto here = k; here != i; here = routes.from[i][here])
        means[{routes.from[i][here], here}] = 1;
  }
  for (const auto& [line, gradients] : parts)
    carry(line.first, line.second, gradients);
  for (const auto& [line, gradients] : means)
    carry(line.first, line.second, gradients);
}

loads loads_of(const peer_network& net, const peer_flags& computing,
               const relay_routes* routes, const peer_flags& averaging) {
  if (!routes)
    return direct_loads(net, computing, averaging);
  loads result;
  result.up.resize(net.size());
  result.down.resize(net.size());
  for (std::size_t i = 0; i < net.size(); ++i)
    if (averaging[i])
      add_relayed(net, computing, *routes, i, result);
  return result;
}

std::vector<one_place_peer> peers_of(const peer_network& net,
                                     const peer_flags& computing) {
  std::vector<one_place_peer> result;
  for (std::size_t i = 0; i < net.size(); ++i)
    result.push_back({net.up(i), net.down(i), computing[i], net.holds(i),
                      net.listens(i) || net.size() == 1});
  return result;
}

share_exchange by_closed_form(const peer_network& net,
                              const peer_flags& computing) {
  auto found = fastest_in_one_place(peers_of(net, computing));
  share_exchange result;
  if (found.shares.empty())
    return result;
  result.rate = found.seconds > 0 ? 1 / found.seconds : peer_network::unlimited;
  result.shares = std::move(found.shares);
  return result;
}

share_exchange by_program(const peer_network& net, const peer_flags& computing,
                          const relay_routes* routes) {
  share_exchange result;
  peer_flags averaging(net.size(), false);
  std::vector<std::size_t> column(net.size() + 1, 0); // The last: the sum.
  std::size_t columns = 1;                            // 0: the rate.
  for (std::size_t i = 0; i < net.size(); ++i)
    if (may_average(net, computing, routes, i)) {
      averaging[i] = true;
      column[i] = columns++;
    }
  double unit = line_bound(net, computing);
  if (columns == 1 || unit == 0)
    return result;
  auto load = loads_of(net, computing, routes, averaging);
  if (unit == peer_network::unlimited) {
    // Nothing has to travel when the one that computes and holds averages all.
    for (std::size_t i = 0; i < net.size(); ++i)
      if (averaging[i] && computing[i]) {
        result.shares.assign(net.size(), 0);
        result.shares[i] = 1;
        result.rate = peer_network::unlimited;
        return result;
      }
    return result;
  }
  linear_program program{columns};
  program.cost(0, -1);
  program.limit(0, 1);
  terms all{{0, -1.0}};
  for (std::size_t i = 0; i < net.size(); ++i)
    if (averaging[i])
      all.emplace_back(column[i], 1.0);
  program.require(all, relation::equal, 0);
  auto capacity = [&](const terms& x, double limit) {
    double most = 0;
    for (const auto& term : x)
      most += std::max(0.0, term.second);
    if (most <= 0 || limit / unit >= most)
      return;
    terms row;
    for (const auto& [peer, factor] : x)
      row.emplace_back(column[peer], factor);
    program.require(std::move(row), relation::at_most, limit / unit);
  };
  for (std::size_t i = 0; i < net.size(); ++i) {
    capacity(load.up[i], net.up(i));
    capacity(load.down[i], net.down(i));
  }
  for (const auto& [ends, x] : load.links)
    capacity(x, net.link(ends.first, ends.second));
  auto found = program.solve();
  if (!found || found->values[0] <= 0)
    return result;
  double sum = 0;
  for (std::size_t i = 0; i < net.size(); ++i) {
    result.shares.push_back(
        averaging[i] ? std::max(0.0, found->values[column[i]]) : 0);
    sum += result.shares.back();
  }
  for (auto& x : result.shares)
    x /= sum;
  result.rate = rate_of(net, computing, result.shares, routes);
  // The rounding of a solver can put next to nothing on a line that carries
  // even less.
  auto cleared = result.shares;
  double kept = 0;
  for (auto& x : cleared)
    kept += x = x < 1e-7 ? 0 : x;
  for (auto& x : cleared)
    x /= kept;
  double rate = rate_of(net, computing, cleared, routes);
  if (rate > result.rate) {
    result.rate = rate;
    result.shares = std::move(cleared);
  }
  return result;
}

/// From `start` outwards along lines that exist in `direction`: the neighbour
/// through which each peer is reached.
std::vector<std::size_t> tree_from(const peer_network& net, std::size_t start,
                                   bool towards_start) {
  std::size_t n = net.size();
  std::vector<std::size_t> parent(n);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  std::vector<bool> reached(n, false);
  reached[start] = true;
  std::vector<std::size_t> ring{start};
  while (!ring.empty()) {
    std::vector<std::size_t> next;
    std::vector<std::size_t> carried(n, 0); // Children: spread them.
    for (std::size_t k = 0; k < n; ++k) {
      if (reached[k])
        continue;
      double widest = 0;
      for (auto over : ring) {
        if (over != start && !net.listens(over))
          continue;
        auto from = towards_start ? k : over;
        auto to = towards_start ? over : k;
        if (!connected(net, from, to))
          continue;
        double width
            = std::min({net.link(from, to), net.up(over), net.down(over)})
              / static_cast<double>(1 + carried[over]);
        if (width > widest) {
          widest = width;
          parent[k] = over;
        }
      }
      if (parent[k] != k) {
        next.push_back(k);
        ++carried[parent[k]];
      }
    }
    for (auto k : next)
      reached[k] = true;
    ring = std::move(next);
  }
  return parent;
}

} // namespace

relay_routes shortest_routes(const peer_network& net) {
  relay_routes result;
  for (std::size_t i = 0; i < net.size(); ++i) {
    result.to.push_back(tree_from(net, i, true));
    result.from.push_back(tree_from(net, i, false));
  }
  return result;
}

share_exchange fastest_shares(const peer_network& net,
                              const peer_flags& computing,
                              const relay_routes* routes) {
  if (!routes && net.links().empty())
    return by_closed_form(net, computing);
  return by_program(net, computing, routes);
}

void gains_of(const peer_network& net, const peer_flags& computing,
              std::vector<double>& upload, std::vector<double>& download) {
  upload.assign(net.size(), 0);
  download.assign(net.size(), 0);
  if (!net.links().empty())
    return;
  auto peers = peers_of(net, computing);
  auto gains = gains_in_one_place(peers, fastest_in_one_place(peers));
  upload = std::move(gains.up);
  download = std::move(gains.down);
}

double rate_of(const peer_network& net, const peer_flags& computing,
               const std::vector<double>& shares, const relay_routes* routes) {
  peer_flags averaging(net.size(), false);
  for (std::size_t i = 0; i < net.size(); ++i)
    averaging[i] = shares[i] > 0;
  double result = peer_network::unlimited;
  auto load = loads_of(net, computing, routes, averaging);
  auto line = [&](const terms& x, double limit) {
    double carried = 0;
    for (const auto& [peer, factor] : x)
      carried += factor * (peer < shares.size() ? shares[peer] : 1);
    // Below, it is the rounding of what nobody has to carry.
    if (carried > 1e-12)
      result = std::min(result, limit / carried);
  };
  for (std::size_t i = 0; i < net.size(); ++i) {
    line(load.up[i], net.up(i));
    line(load.down[i], net.down(i));
  }
  for (const auto& [ends, x] : load.links)
    line(x, net.link(ends.first, ends.second));
  return result;
}

exchange as_exchange(const peer_network& net, const peer_flags& computing,
                     const share_exchange& x) {
  if (x.rate == 0 || x.rate == peer_network::unlimited)
    return silent_exchange(net, computing, x.rate);
  auto result = silent_exchange(net, computing, 0);
  result.published = false;
  for (std::size_t i = 0; i < net.size(); ++i) {
    result.reduce[i] = x.shares[i] * x.rate;
    if (x.shares[i] > 0)
      for (std::size_t j = 0; j < net.size(); ++j)
        if (net.holds(j))
          result.means[i][j] = result.reduce[i];
  }
  result.rate = x.rate;
  return result;
}

} // namespace potluck
