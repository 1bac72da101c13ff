#include "runtime/history/run_places.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

void run_places::joined(const peer_id& who, const std::string& run,
                        const std::string& host) {
  left(who);
  const auto found = runs_.find(run);
  auto& x = found != runs_.end()
                ? found->second
                : runs_.emplace(run, one{++come_, {}, {}}).first->second;
  x.last_prefix = prefix_of(host);
  x.here[who] = x.last_prefix;
  where_[who] = run;
  if (placed_.size() < most_)
    placed_.insert(run);
}

void run_places::left(const peer_id& who) {
  const auto at = where_.find(who);
  if (at == where_.end())
    return;
  const auto run = runs_.find(at->second);
  run->second.here.erase(who);
  if (run->second.here.empty() && !has(run->first))
    runs_.erase(run);
  where_.erase(at);
}

void run_places::forget(const std::string& run) {
  const auto at = runs_.find(run);
  if (at == runs_.end() || !at->second.here.empty())
    return;
  placed_.erase(run);
  runs_.erase(at);
}

const run_places::trainers& run_places::of(const std::string& run) const {
  static const trainers none;
  const auto at = runs_.find(run);
  return at == runs_.end() ? none : at->second.here;
}

run_places::change run_places::deal() {
  change result;
  if (runs_.size() == placed_.size())
    return result;
  using entry = decltype(runs_)::const_iterator;
  std::vector<entry> all;
  for (auto i = runs_.cbegin(); i != runs_.cend(); ++i)
    all.push_back(i);
  std::sort(all.begin(), all.end(), [](entry a, entry b) {
    const auto one = a->second.here.size(), other = b->second.here.size();
    return one != other ? one > other : a->second.number < b->second.number;
  });
  // How many runs try for a place by each prefix.
  std::map<std::string, std::size_t> crowd;
  for (const auto& x : all) {
    std::set<std::string> prefixes;
    for (const auto& y : x->second.here)
      prefixes.insert(y.second);
    for (const auto& prefix : prefixes)
      ++crowd[prefix];
  }
  // The turn of each: how many of its prefix come before it.
  std::map<std::string, std::size_t> turns;
  std::vector<std::pair<std::size_t, entry>> order;
  for (const auto& x : all) {
    auto mine = x->second.last_prefix;
    for (const auto& y : x->second.here)
      if (crowd[y.second] < crowd[mine])
        mine = y.second;
    order.emplace_back(turns[mine]++, x);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](auto& a, auto& b) { return a.first < b.first; });
  order.resize(std::min(order.size(), most_));
  std::set<std::string> next;
  for (const auto& x : order)
    next.insert(x.second->first);
  std::set_difference(next.begin(), next.end(), placed_.begin(), placed_.end(),
                      std::back_inserter(result.gained));
  std::set_difference(placed_.begin(), placed_.end(), next.begin(), next.end(),
                      std::back_inserter(result.lost));
  placed_ = std::move(next);
  for (const auto& run : result.lost)
    forget(run);
  return result;
}

} // namespace potluck
