#include "runtime/dht/disjoint_lookup.hpp"

#include <algorithm>
#include <stdexcept>

namespace potluck {

disjoint_lookup::disjoint_lookup(const record_key& target, const peer_id& self,
                                 std::vector<contact> seeds,
                                 lookup::settings how, std::size_t paths,
                                 double spacing)
    : how_(how), spacing_(spacing), quorum_(std::max(how.quorum, how.doubted)) {
  if (paths == 0)
    throw std::invalid_argument("a disjoint_lookup needs a path.");
  std::sort(seeds.begin(), seeds.end(), [&](const auto& a, const auto& b) {
    return closer(target, a.id, b.id);
  });
  std::vector<std::vector<contact>> dealt(paths);
  for (std::size_t i = 0; i < seeds.size(); ++i)
    dealt[i % paths].push_back(std::move(seeds[i]));
  for (auto& some : dealt)
    paths_.emplace_back(target, self, some, how);
}

std::vector<contact> disjoint_lookup::next() {
  std::vector<contact> result;
  do {
    for (std::size_t i = 0; i < paths_.size(); ++i)
      for (auto some = paths_[i].next(); !some.empty(); some = paths_[i].next())
        for (auto& who : some) {
          if (asked_by_.emplace(who.id, i).second)
            result.push_back(std::move(who));
          else
            paths_[i].passed_over(who.id);
        }
  } while (result.empty() && doubts());
  return result;
}

bool disjoint_lookup::doubts() {
  if (!done() || quorum_ >= most_quorum || spacing_ == 0)
    return false;
  const auto nodes = closest();
  const auto count = std::min(nodes.size(), how_.quorum * paths_.size());
  if (count == 0)
    return false;
  const auto reach
      = part_of_space(distance_between(target(), nodes[count - 1].id));
  // Where the last doubt has brought nobody closer, there is nobody.
  if (reach <= widest * spacing_ * static_cast<double>(count)
      || reach >= doubted_reach_)
    return false;
  doubted_reach_ = reach;
  quorum_ *= 2;
  for (auto& x : paths_)
    x.doubt(quorum_);
  return !done();
}

void disjoint_lookup::answered(const peer_id& who,
                               const std::vector<contact>& nodes,
                               const std::vector<dht_record>& records,
                               time_point now) {
  if (const auto at = asked_by_.find(who); at != asked_by_.end())
    paths_[at->second].answered(who, nodes, records, now);
}

void disjoint_lookup::failed(const peer_id& who) {
  if (const auto at = asked_by_.find(who); at != asked_by_.end())
    paths_[at->second].failed(who);
}

void disjoint_lookup::slow(const peer_id& who) {
  if (const auto at = asked_by_.find(who); at != asked_by_.end())
    paths_[at->second].slow(who);
}

bool disjoint_lookup::done() const {
  return std::all_of(paths_.begin(), paths_.end(),
                     [](const auto& x) { return x.done(); });
}

bool disjoint_lookup::awaits_only() const {
  bool waits = false;
  for (const auto& x : paths_) {
    if (!x.done() && !x.awaits_only())
      return false;
    waits = waits || !x.done();
  }
  return waits;
}

std::vector<contact> disjoint_lookup::closest() const {
  if (paths_.size() == 1)
    return paths_.front().closest();
  std::vector<contact> result;
  for (const auto& x : paths_)
    for (auto& who : x.closest())
      result.push_back(std::move(who));
  std::sort(result.begin(), result.end(), [&](const auto& a, const auto& b) {
    return closer(target(), a.id, b.id);
  });
  if (result.size() > how_.closest)
    result.resize(how_.closest);
  return result;
}

std::vector<peer_id> disjoint_lookup::known() const {
  // Of all paths: a node that one has heard out need not be named to another.
  std::vector<peer_id> result;
  for (const auto& x : paths_)
    for (auto& id : x.known())
      result.push_back(id);
  return result;
}

std::vector<dht_record> disjoint_lookup::records(time_point now) const {
  if (paths_.size() == 1)
    return paths_.front().records(now);
  record_store merged;
  for (const auto& x : paths_)
    for (auto& record : x.records(now))
      merged.store(record, now);
  return merged.find(target(), now);
}

std::optional<std::uint64_t>
disjoint_lookup::number(const std::string& subkey) const {
  std::optional<std::uint64_t> result;
  for (const auto& x : paths_)
    result = std::max(result, x.number(subkey));
  return result;
}

std::size_t disjoint_lookup::asked() const {
  std::size_t sum = 0;
  for (const auto& x : paths_)
    sum += x.asked();
  return sum;
}

std::size_t disjoint_lookup::path_of(const peer_id& who) const {
  const auto at = asked_by_.find(who);
  return at == asked_by_.end() ? 0 : at->second + 1;
}

} // namespace potluck
