#include "runtime/nearest_name.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// Edits (insert, drop, replace, swap neighbours) from one word to the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(
      a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

} // namespace

std::string nearest_name(const std::string& word,
                         const std::vector<std::string>& candidates) {
  std::string best;
  auto best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    auto distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty())
    return best;
  const auto longer
      = std::find_if(candidates.begin(), candidates.end(),
                     [&](auto& x) { return x.rfind(word + "-", 0) == 0; });
  return longer == candidates.end() ? "" : *longer;
}

} // namespace potluck
