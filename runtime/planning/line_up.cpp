#include "runtime/planning/line_up.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "runtime/direct_lines.hpp"
#include "runtime/planning/collaboration.hpp"
#include "runtime/planning/planner.hpp"

namespace potluck {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Line-ups whose exchange is planned: each takes a plan's microseconds.
constexpr std::size_t most_planned = 16;

using flags = std::vector<bool>;

class weigher {
public:
  weigher(const group_contract& contract, bool contribute)
      : lines{contract}, contribute_(contribute),
        all_(collaboration_of(contract)), speeds_(believed_lines(all_)) {
    // A pair's limit takes a matching for each look, and moves little.
    all_.limits.clear();
  }

  std::size_t size() const {
    return all_.peers.size();
  }
  /// Auxiliaries, and those trainers with which it has a line.
  flags around(std::size_t centre) const {
    flags result;
    for (std::size_t i = 0; i < size(); ++i)
      result.push_back(!lines.trains(i) || lines.between(centre, i));
    return result;
  }
  /// Everything but how long it takes: of that, the gradients that the busiest
  /// moves, if all lines were equal.
  line_up begun(flags stays) const {
    line_up x;
    x.stays = std::move(stays);
    x.through.assign(size(), line_up::nobody);
    std::vector<std::size_t> contributors(size(), 0);
    for (std::size_t i = 0; i < size(); ++i) {
      x.counted += lines.trains(i) && x.stays[i];
      if (!contribute_ || x.stays[i])
        continue;
      auto& best = x.through[i];
      for (std::size_t j = 0; j < size(); ++j)
        if (lines.trains(j) && x.stays[j] && lines.between(i, j)
            && (best == line_up::nobody
                || contributors[j] < contributors[best]))
          best = j;
      if (best == line_up::nobody)
        continue;
      ++contributors[best];
      ++x.counted;
    }
    double givers = 0;
    double members = 0;
    for (std::size_t i = 0; i < size(); ++i)
      if (x.stays[i]) {
        givers += lines.serves(i, x.stays);
        members += lines.trains(i);
      }
    x.seconds = givers > 0
                    ? members / givers
                          + 2.0
                                * static_cast<double>(*std::max_element(
                                    contributors.begin(), contributors.end()))
                    : never;
    return x;
  }
  void weigh(line_up& x) const {
    x.seconds = exchange(x.stays);
    const auto bytes = static_cast<double>(all_.gradient_bytes);
    std::vector<double> in(size(), 0);  // Gradients that a sponsor gathers,
    std::vector<double> out(size(), 0); // and means that it passes on.
    double slowest = 0;
    for (std::size_t i = 0; i < size(); ++i)
      if (auto sponsor = x.through[i]; sponsor != line_up::nobody) {
        in[sponsor] += bytes / speeds_[sponsor].download;
        out[sponsor] += bytes / speeds_[sponsor].upload;
        slowest = std::max({slowest, bytes / speeds_[i].upload + out[sponsor],
                            in[sponsor] + bytes / speeds_[i].download,
                            in[sponsor] + out[sponsor]});
      }
    x.seconds += slowest;
  }

  const direct_lines lines;

private:
  double exchange(const flags& stays) const {
    auto group = all_;
    group.peers.clear();
    bool somebody = false;
    for (std::size_t i = 0; i < size(); ++i)
      if (stays[i]) {
        group.peers.push_back(all_.peers[i]);
        group.peers.back().averages = lines.serves(i, stays);
        somebody = somebody || group.peers.back().averages;
      }
    return somebody ? plan(group).predicted_seconds : never;
  }

  bool contribute_;
  collaboration all_;
  std::vector<line_speeds> speeds_;
};

/// Leaves out the trainer that misses the most lines; of equals the last one.
/// False when none is missing.
bool thin(const weigher& by, flags& stays) {
  std::size_t most = 0;
  std::size_t whom = 0;
  for (std::size_t i = 0; i < by.size(); ++i) {
    std::size_t missing = 0;
    for (std::size_t j = 0; j < by.size(); ++j)
      missing += by.lines.trains(i) && by.lines.trains(j) && stays[i]
                 && stays[j] && !by.lines.between(i, j);
    if (missing > 0 && missing >= most) {
      most = missing;
      whom = i;
    }
  }
  if (most > 0)
    stays[whom] = false;
  return most > 0;
}

} // namespace

line_up weighed(const group_contract& contract, std::vector<bool> stays) {
  const weigher by{contract, true};
  auto result = by.begun(std::move(stays));
  by.weigh(result);
  return result;
}

line_up best_line_up(const group_contract& contract, bool contribute) {
  const weigher by{contract, contribute};
  auto everybody = by.begun(flags(by.size(), true));
  by.weigh(everybody);
  if (by.lines.complete())
    return everybody;
  std::vector<line_up> tried;
  std::set<flags> seen{everybody.stays};
  auto consider = [&](const flags& stays) {
    if (seen.insert(stays).second)
      tried.push_back(by.begun(stays));
  };
  for (auto stays = everybody.stays; thin(by, stays);)
    consider(stays);
  for (std::size_t i = 0; i < by.size(); ++i)
    consider(by.around(i));
  std::stable_sort(tried.begin(), tried.end(), [](auto& a, auto& b) {
    return std::make_pair(b.counted, a.seconds)
           < std::make_pair(a.counted, b.seconds);
  });
  auto best = everybody;
  best.seconds *= worth_leaving_out;
  std::size_t planned = 0;
  for (auto& x : tried) {
    if (x.seconds == never)
      continue;
    if (best.seconds < never
        && (x.counted < best.counted || ++planned > most_planned))
      break;
    by.weigh(x);
    if (x.seconds < best.seconds)
      best = x;
  }
  return best.stays == everybody.stays ? everybody : best;
}

} // namespace potluck
