#include "runtime/planning/pair_shares.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace potluck {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A square of costs.
class square {
public:
  explicit square(std::size_t size) : size_{size}, at_(size * size) {
  }
  std::size_t size() const {
    return size_;
  }
  double& at(std::size_t row, std::size_t column) {
    return at_[row * size_ + column];
  }
  double at(std::size_t row, std::size_t column) const {
    return at_[row * size_ + column];
  }

private:
  std::size_t size_;
  std::vector<double> at_;
};

/// Of rows and of columns: they sum to the cost of the cheapest assignment, and
/// no row's and column's exceed the cost of their place.
struct potentials {
  std::vector<double> rows;
  std::vector<double> columns;
};

/// The Hungarian method: rows are assigned one after the other, each along the
/// cheapest augmenting path.
potentials potentials_of(const square& costs) {
  const auto n = costs.size();
  // Column n is where a path begins.
  std::vector<double> rows(n, 0);
  std::vector<double> columns(n + 1, 0);
  std::vector<std::size_t> row_of(n + 1, n);
  for (std::size_t row = 0; row < n; ++row) {
    std::vector<double> slack(n, infinite);
    std::vector<std::size_t> before(n, n);
    std::vector<bool> reached(n + 1, false);
    row_of[n] = row;
    auto column = n;
    while (row_of[column] != n) {
      reached[column] = true;
      const auto from = row_of[column];
      auto least = infinite;
      auto next = n;
      for (std::size_t j = 0; j < n; ++j) {
        if (reached[j])
          continue;
        auto left = costs.at(from, j) - rows[from] - columns[j];
        if (left < slack[j]) {
          slack[j] = left;
          before[j] = column;
        }
        if (slack[j] < least) {
          least = slack[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= n; ++j) {
        if (reached[j]) {
          rows[row_of[j]] += least;
          columns[j] -= least;
        } else if (j < n) {
          slack[j] -= least;
        }
      }
      column = next;
    }
    while (column != n) {
      row_of[column] = row_of[before[column]];
      column = before[column];
    }
  }
  columns.pop_back();
  return {std::move(rows), std::move(columns)};
}

/// Drops the loosest until they are of few enough shares.
void keep_tightest(std::vector<shared_bound>& bounds) {
  std::stable_sort(
      bounds.begin(), bounds.end(),
      [](const auto& x, const auto& y) { return x.most < y.most; });
  std::set<std::size_t> shares;
  auto kept = bounds.begin();
  for (const auto& x : bounds) {
    auto with = shares;
    with.insert(x.a);
    with.insert(x.b);
    if (with.size() > paired_shares)
      continue;
    shares = std::move(with);
    *kept++ = x;
  }
  bounds.erase(kept, bounds.end());
}

} // namespace

std::vector<double> most_together(std::vector<double> most,
                                  std::vector<shared_bound> bounds) {
  keep_tightest(bounds);
  std::vector<std::size_t> bound;
  for (const auto& x : bounds) {
    // No share is negative.
    most[x.a] = std::min(most[x.a], x.most);
    most[x.b] = std::min(most[x.b], x.most);
    bound.push_back(x.a);
    bound.push_back(x.b);
  }
  std::sort(bound.begin(), bound.end());
  bound.erase(std::unique(bound.begin(), bound.end()), bound.end());
  if (bound.empty())
    return most;
  square costs{bound.size()};
  for (std::size_t i = 0; i < bound.size(); ++i)
    for (std::size_t j = 0; j < bound.size(); ++j)
      costs.at(i, j) = most[bound[i]] + most[bound[j]];
  auto place = [&](std::size_t share) {
    return static_cast<std::size_t>(
        std::lower_bound(bound.begin(), bound.end(), share) - bound.begin());
  };
  for (const auto& x : bounds)
    for (auto [i, j] :
         {std::pair{place(x.a), place(x.b)}, std::pair{place(x.b), place(x.a)}})
      costs.at(i, j) = std::min(costs.at(i, j), x.most);
  const auto found = potentials_of(costs);
  for (std::size_t i = 0; i < bound.size(); ++i)
    most[bound[i]] = std::clamp((found.rows[i] + found.columns[i]) / 2, 0.0,
                                most[bound[i]]);
  return most;
}

} // namespace potluck
