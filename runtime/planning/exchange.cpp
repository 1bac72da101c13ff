#include "runtime/planning/exchange.hpp"

#include <algorithm>

#include "runtime/planning/linear_program.hpp"
#include "runtime/planning/shares.hpp"

namespace potluck {

namespace {

using relation = linear_program::relation;
using terms = std::vector<std::pair<std::size_t, double>>;

constexpr std::size_t absent = 0;

/// Of every variable, in units of what no exchange exceeds: above 1, so that
/// the lines are what binds, and their duals say so.
constexpr double most_rate = 2;

std::size_t count(const peer_flags& x) {
  return static_cast<std::size_t>(std::count(x.begin(), x.end(), true));
}

/// Whether all computing peers can send to i, which then may average.
bool may_average(const peer_network& net, const peer_flags& computing,
                 std::size_t others, std::size_t i) {
  if (!net.listens(i) && others > 0)
    return false;
  if (others > 0 && net.down(i) == 0)
    return false;
  if (!net.links().empty())
    for (std::size_t k = 0; k < net.size(); ++k)
      if (k != i && computing[k] && net.link(k, i) == 0)
        return false;
  return true;
}

/// What the lines carry of these rates, at most as a multiple of what they
/// can; rounding of a solver makes it a hair more than 1.
double overload(const peer_network& net, const peer_flags& computing,
                const exchange& x) {
  std::size_t n = net.size();
  std::size_t all = count(computing);
  double total = 0;
  for (auto r : x.reduce)
    total += r;
  double worst = 1;
  auto load = [&](double carried, double limit) {
    if (carried > limit)
      worst = std::max(worst, limit > 0 ? carried / limit : 1.0);
  };
  for (std::size_t i = 0; i < n; ++i) {
    double up = computing[i] ? total - x.reduce[i] : 0;
    double down = static_cast<double>(all - computing[i]) * x.reduce[i];
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i)
        continue;
      up += x.means[i][j];
      down += x.means[j][i];
    }
    load(up, net.up(i));
    load(down, net.down(i));
  }
  for (const auto& [ends, limit] : net.links())
    load((computing[ends.first] ? x.reduce[ends.second] : 0)
             + x.means[ends.first][ends.second],
         limit);
  return worst;
}

/// What the slowest holder gets.
double received(const peer_network& net, const exchange& x) {
  double least = peer_network::unlimited;
  for (std::size_t j = 0; j < net.size(); ++j) {
    if (!net.holds(j))
      continue;
    double sum = 0;
    for (std::size_t i = 0; i < net.size(); ++i)
      sum += x.means[i][j];
    least = std::min(least, sum);
  }
  return least;
}

} // namespace

exchange silent_exchange(const peer_network& net, const peer_flags& computing,
                         double rate) {
  exchange result;
  std::size_t n = net.size();
  result.rate = rate;
  result.published = true;
  result.reduce.assign(n, 0);
  result.means.assign(n, std::vector<double>(n, 0));
  result.upload_gain.assign(n, 0);
  result.download_gain.assign(n, 0);
  if (rate == peer_network::unlimited) {
    // Local rates are as high as they need be.
    double local = net.compute_rate(computing);
    for (std::size_t i = 0; i < n; ++i)
      if (computing[i] && net.holds(i) && net.holders() == 1)
        result.reduce[i] = result.means[i][i] = local;
  }
  return result;
}

namespace {

/// One linear program: its columns, and the rows whose duals are asked for.
class program_of {
public:
  program_of(const peer_network& net, const peer_flags& computing, double unit,
             std::size_t most_averaging)
      : net_(net), computing_(computing), unit_(unit), n_(net.size()),
        all_(count(computing)) {
    reduce_.assign(n_, absent);
    mean_.assign(n_, std::vector<std::size_t>(n_, absent));
    std::size_t columns = 1; // 0: the rate.
    for (auto i : averaging(most_averaging)) {
      reduce_[i] = columns++;
      for (std::size_t j = 0; j < n_; ++j)
        if (j != i && net.holds(j) && net.up(i) > 0 && net.down(j) > 0
            && net.link(i, j) > 0)
          mean_[i][j] = columns++;
    }
    program_.emplace(columns);
    rows();
  }

  std::optional<exchange> solve() {
    auto found = program_->solve();
    if (!found)
      return std::nullopt;
    auto result = silent_exchange(net_, computing_, 0);
    result.published = false;
    auto value = [&](std::size_t column) {
      return std::clamp(found->values[column], 0.0, most_rate) * unit_;
    };
    for (std::size_t i = 0; i < n_; ++i) {
      if (reduce_[i] == absent)
        continue;
      result.reduce[i] = value(reduce_[i]);
      if (net_.holds(i))
        result.means[i][i] = result.reduce[i];
      for (std::size_t j = 0; j < n_; ++j)
        if (mean_[i][j] != absent)
          result.means[i][j] = std::min(value(mean_[i][j]), result.reduce[i]);
    }
    double shrink = 1 / overload(net_, computing_, result);
    if (shrink < 1) {
      for (auto& x : result.reduce)
        x *= shrink;
      for (auto& row : result.means)
        for (auto& x : row)
          x *= shrink;
    }
    result.rate = received(net_, result);
    for (const auto& [peer, row] : upload_rows_)
      result.upload_gain[peer] = std::max(0.0, -found->duals[row]);
    for (const auto& [peer, row] : download_rows_)
      result.download_gain[peer] = std::max(0.0, -found->duals[row]);
    return result;
  }

private:
  /// Who may average: all that can, or those to whom parts come fastest.
  std::vector<std::size_t> averaging(std::size_t most) const {
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t i = 0; i < n_; ++i) {
      std::size_t others = all_ - computing_[i];
      if (!may_average(net_, computing_, others, i))
        continue;
      double width = peer_network::unlimited;
      if (others > 0 && n_ > most) {
        width = net_.down(i) / static_cast<double>(others);
        for (std::size_t k = 0; k < n_; ++k)
          if (k != i && computing_[k])
            width = std::min(width, net_.link(k, i));
      }
      ranked.emplace_back(-width, i);
    }
    if (ranked.size() > most) {
      std::sort(ranked.begin(), ranked.end());
      ranked.resize(most);
    }
    std::vector<std::size_t> result;
    for (const auto& x : ranked)
      result.push_back(x.second);
    std::sort(result.begin(), result.end());
    return result;
  }

  void require(terms x, relation is, double right) {
    program_->require(std::move(x), is, right);
    ++written_;
  }

  /// Requires at most `limit` (gradients per second), unless the terms, whose
  /// variables are at most `most_rate`, cannot reach it.
  bool capacity(terms x, double limit) {
    double most = 0;
    for (const auto& [column, factor] : x)
      most += factor;
    if (most <= 0 || limit / unit_ >= most * most_rate)
      return false;
    require(std::move(x), relation::at_most, limit / unit_);
    return true;
  }

  void rows() {
    auto& p = *program_;
    p.cost(0, -1);
    p.limit(0, most_rate);
    for (std::size_t i = 0; i < n_; ++i)
      if (reduce_[i] != absent)
        p.limit(reduce_[i], most_rate);
    for (std::size_t j = 0; j < n_; ++j) {
      if (!net_.holds(j))
        continue;
      terms got{{0, -1.0}};
      if (reduce_[j] != absent)
        got.emplace_back(reduce_[j], 1.0);
      for (std::size_t i = 0; i < n_; ++i)
        if (mean_[i][j] != absent)
          got.emplace_back(mean_[i][j], 1.0);
      require(std::move(got), relation::at_least, 0);
    }
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j)
        if (mean_[i][j] != absent)
          require({{mean_[i][j], 1.0}, {reduce_[i], -1.0}}, relation::at_most,
                  0);
    for (std::size_t i = 0; i < n_; ++i) {
      terms up;
      terms down;
      if (double others = static_cast<double>(all_ - computing_[i]);
          reduce_[i] != absent && others > 0)
        down.emplace_back(reduce_[i], others);
      for (std::size_t j = 0; j < n_; ++j) {
        if (j == i)
          continue;
        if (computing_[i] && reduce_[j] != absent)
          up.emplace_back(reduce_[j], 1.0);
        if (mean_[i][j] != absent)
          up.emplace_back(mean_[i][j], 1.0);
        if (mean_[j][i] != absent)
          down.emplace_back(mean_[j][i], 1.0);
      }
      if (capacity(std::move(up), net_.up(i)))
        upload_rows_.emplace_back(i, written_ - 1);
      if (capacity(std::move(down), net_.down(i)))
        download_rows_.emplace_back(i, written_ - 1);
    }
    for (const auto& [ends, limit] : net_.links()) {
      auto [from, to] = ends;
      terms both;
      if (computing_[from] && reduce_[to] != absent)
        both.emplace_back(reduce_[to], 1.0);
      if (mean_[from][to] != absent)
        both.emplace_back(mean_[from][to], 1.0);
      capacity(std::move(both), limit);
    }
  }

  const peer_network& net_;
  const peer_flags& computing_;
  double unit_;
  std::size_t n_;
  std::size_t all_;
  std::vector<std::size_t> reduce_;
  std::vector<std::vector<std::size_t>> mean_;
  std::optional<linear_program> program_;
  std::size_t written_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> upload_rows_;
  std::vector<std::pair<std::size_t, std::size_t>> download_rows_;
};

} // namespace

double line_bound(const peer_network& net, const peer_flags& computing) {
  std::size_t all = count(computing);
  double result = peer_network::unlimited;
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (computing[i] && net.holders() > (net.holds(i) ? 1u : 0u))
      result = std::min(result, net.up(i));
    if (net.holds(i) && all > (computing[i] ? 1u : 0u))
      result = std::min(result, net.down(i));
  }
  return result;
}

std::optional<exchange> fastest_exchange(const peer_network& net,
                                         const peer_flags& computing,
                                         std::size_t most_averaging) {
  double unit = line_bound(net, computing);
  if (unit == 0 || unit == peer_network::unlimited)
    return silent_exchange(net, computing, unit);
  if (net.links().empty()) {
    auto simple = fastest_shares(net, computing);
    if (simple.rate >= unit * (1 - 1e-12)) {
      auto result = as_exchange(net, computing, simple);
      result.published = true;
      gains_of(net, computing, result.upload_gain, result.download_gain);
      return result;
    }
  }
  auto result = program_of{net, computing, unit, most_averaging}.solve();
  if (result)
    result->published = most_averaging >= net.size();
  return result;
}

exchange best_known_exchange(const peer_network& net,
                             const peer_flags& computing) {
  bool small = net.size() <= limits::published_peers;
  if (small)
    if (auto found = fastest_exchange(net, computing))
      return *found;
  auto shares = fastest_shares(net, computing);
  exchange result;
  if (net.size() <= limits::listed_peers) {
    result = as_exchange(net, computing, shares);
  } else {
    result.rate = shares.rate;
  }
  gains_of(net, computing, result.upload_gain, result.download_gain);
  if (small || net.links().empty() || net.size() > limits::listed_peers)
    return result;
  auto few = std::max<std::size_t>(4, limits::exchange_columns / net.size());
  if (auto found = fastest_exchange(net, computing, few);
      found && found->rate > result.rate)
    result = std::move(*found);
  return result;
}

} // namespace potluck
