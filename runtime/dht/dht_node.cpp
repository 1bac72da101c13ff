#include "runtime/dht/dht_node.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/dialable.hpp"
#include "runtime/fault_points.hpp"

namespace potluck {

namespace {

/// Ranges of the table refreshed at one look.
constexpr std::size_t refreshes_at_once = 2;

bool among(const known_marks& marks, std::uint32_t mark) {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}

} // namespace

std::optional<contact> dht_node::joined(const contact& who, time_point now) {
  connected_[who.id] = {who.where, true};
  silent_.heard(who.id);
  return table_.seen(who, now).ping;
}

void dht_node::routes_no_more(const peer_id& who) {
  if (const auto at = connected_.find(who); at != connected_.end())
    at->second.is_node = false;
  table_.remove(who);
}

void dht_node::lives(const peer_id& who, time_point now) {
  silent_.heard(who);
  if (const auto at = connected_.find(who);
      at != connected_.end() && at->second.is_node)
    table_.seen({who, at->second.where}, now);
}

std::vector<contact> dht_node::seeds(const record_key& target) const {
  auto result = closest(target);
  for (auto& x : table_.longest_known())
    if (std::none_of(result.begin(), result.end(),
                     [&](const contact& y) { return y.id == x.id; }))
      result.push_back(std::move(x));
  return result;
}

double dht_node::spacing() const {
  const auto own = point_of(table_.self());
  const auto neighbours = closest(own);
  return neighbours.size() < bucket_size
             ? 0
             : part_of_space(distance_between(own, neighbours.back().id))
                   / bucket_size;
}

std::vector<record_key> dht_node::refresh_targets(time_point now) {
  if (table_.size() == 0)
    return {};
  return table_.refresh_targets(now, random_, refreshes_at_once);
}

bool dht_node::expire(time_point now) {
  store_.expire(now);
  return store_.size() > 0;
}

// ---- answering --------------------------------------------------------------

std::vector<contact> dht_node::closest_unknown(const record_key& target,
                                               const known_marks& known,
                                               std::uint64_t token) const {
  auto result = closest(target);
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](const contact& who) {
                                return among(known, known_mark(who.id, token));
                              }),
               result.end());
  return result;
}

nodes_found dht_node::answer(const find_nodes& x) const {
  return {x.token, closest_unknown(x.target, x.known_nodes, x.token)};
}

std::vector<dht_record> dht_node::read(const peer_id& from,
                                       std::vector<dht_record> said,
                                       const notary::known& found,
                                       time_point now) {
  const auto newest = [&](const record_key& key, const std::string& subkey) {
    return std::max(found(key, subkey), store_.number(key, subkey));
  };
  return notary_.read(from, std::move(said), newest, now);
}

records_stored dht_node::answer(const peer_id& from, store_records x,
                                time_point now) {
  const auto sound = read(
      from, std::move(x.records),
      [](auto&, auto&) { return std::optional<std::uint64_t>{}; }, now);
  // Whoever comes by way of a hub shares one: where it is nobody can see.
  const auto at = connected_.find(from);
  const auto network
      = at == connected_.end() ? "?" : network_of(at->second.where.host);
  std::uint32_t accepted = 0;
  for (auto& record : sound) {
    if (strikes(fault_point::record_refused))
      continue;
    auto verdict = store_.store(record, now, network);
    accepted += verdict == record_store::verdict::stored
                || verdict == record_store::verdict::refreshed;
  }
  return {x.token, accepted};
}

records_found dht_node::answer(const find_records& x, time_point now) {
  auto records = stored(x.key, now);
  const auto all = static_cast<std::uint32_t>(
      std::min<std::size_t>(records.size(), max_stored));
  if (!x.known_records.empty())
    records.erase(std::remove_if(records.begin(), records.end(),
                                 [&](const dht_record& record) {
                                   return among(
                                       x.known_records,
                                       known_mark(record.subkey, x.token));
                                 }),
                  records.end());
  const auto most = x.most == 0 ? max_records : std::size_t{x.most};
  for (std::size_t i = 0; x.most != 0 && i < most && i < records.size(); ++i)
    std::swap(records[i], records[i + random_.below(records.size() - i)]);
  if (records.size() > most)
    records.resize(most);
  return {x.token, std::move(records),
          closest_unknown(x.key, x.known_nodes, x.token), all};
}

} // namespace potluck
