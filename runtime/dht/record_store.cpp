#include "runtime/dht/record_store.hpp"

#include <algorithm>

#include "messages/limits.hpp"

namespace potluck {

std::size_t record_store::charge(const dht_record& x) {
  return x.subkey.size() + x.value.size() + record_overhead_bytes;
}

record_store::verdict inspect(const dht_record& record) {
  using verdict = record_store::verdict;
  if (record.lives_ms == 0)
    return verdict::lifeless;
  if (record.lives_ms > max_record_life_ms)
    return verdict::too_long_lived;
  if (record.value.size() > max_record_value_bytes
      || record.subkey.size() > max_subkey_bytes)
    return verdict::too_large;
  return verdict::stored;
}

record_store::record_store(std::size_t capacity) : capacity_(capacity) {
}

void record_store::take_out(shelf& home,
                            std::map<std::string, kept>::iterator at) {
  const auto less = [](tally& from, const std::string& name, std::size_t by) {
    auto x = from.find(name);
    x->second -= by;
    if (x->second == 0)
      from.erase(x);
  };
  const auto cost = charge(at->second.record);
  home.bytes -= cost;
  bytes_ -= cost;
  --count_;
  less(owners_, at->first, cost);
  less(home.networks, at->second.network, 1);
  less(networks_, at->second.network, 1);
  home.records.erase(at);
}

bool record_store::make_room(shelf* home, const std::string& network) {
  const auto& counts = home != nullptr ? home->networks : networks_;
  const auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto own = counts.find(network);
  const auto least = (own == counts.end() ? 0 : own->second) + 2;
  if (most == counts.end() || most->second < least)
    return false;
  const auto name = most->first;
  shelf* from = nullptr;
  std::map<std::string, kept>::iterator first;
  const auto look = [&](shelf& x) {
    for (auto i = x.records.begin(); i != x.records.end(); ++i)
      if (i->second.network == name
          && (from == nullptr || i->second.expires < first->second.expires)) {
        from = &x;
        first = i;
      }
  };
  if (home != nullptr)
    look(*home);
  else
    for (auto& [key, x] : shelves_)
      look(x);
  take_out(*from, first);
  return true;
}

record_store::verdict record_store::store(const dht_record& record,
                                          time_point now,
                                          const std::string& network) {
  if (auto problem = inspect(record); problem != verdict::stored)
    return problem;
  expire(now);
  const auto expires = now + std::chrono::milliseconds{record.lives_ms};
  const auto cost = charge(record);
  auto& home = shelves_[record.key];
  auto known = home.records.find(record.subkey);
  const bool fresh = known == home.records.end();
  std::size_t freed = 0;
  if (!fresh) {
    const auto number = known->second.record.seal.number;
    if (number > record.seal.number
        || (number == record.seal.number && known->second.expires >= expires))
      return verdict::older;
    freed = charge(known->second.record);
  }
  const auto owner = owners_.find(record.subkey);
  const auto owned = owner == owners_.end() ? 0 : owner->second;
  const auto is_full = [&](std::size_t held, std::size_t most) {
    return held - freed + cost > most;
  };
  bool room = !is_full(owned, max_owner_bytes);
  while (room
         && (is_full(home.bytes, max_key_bytes)
             || (fresh && home.records.size() >= max_key_records)))
    room = fresh && make_room(&home, network);
  while (room && is_full(bytes_, capacity_))
    room = fresh && make_room(nullptr, network);
  if (!room) {
    if (home.records.empty())
      shelves_.erase(record.key);
    return verdict::full;
  }
  if (!fresh)
    take_out(home, known);
  home.records[record.subkey] = {record, expires, network};
  ++home.networks[network];
  ++networks_[network];
  home.bytes += cost;
  bytes_ += cost;
  owners_[record.subkey] += cost;
  ++count_;
  earliest_ = std::min(earliest_, expires);
  return fresh ? verdict::stored : verdict::refreshed;
}

std::optional<std::uint64_t>
record_store::number(const record_key& key, const std::string& subkey) const {
  auto home = shelves_.find(key);
  if (home == shelves_.end())
    return std::nullopt;
  auto at = home->second.records.find(subkey);
  if (at == home->second.records.end())
    return std::nullopt;
  return at->second.record.seal.number;
}

std::vector<dht_record> record_store::find(const record_key& key,
                                           time_point now) const {
  std::vector<dht_record> result;
  auto home = shelves_.find(key);
  if (home == shelves_.end())
    return result;
  for (const auto& [subkey, kept] : home->second.records) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        kept.expires - now);
    if (left.count() <= 0)
      continue;
    result.push_back(kept.record);
    result.back().lives_ms = static_cast<std::uint32_t>(left.count());
  }
  return result;
}

void record_store::expire(time_point now) {
  if (now < earliest_)
    return;
  earliest_ = time_point::max();
  for (auto home = shelves_.begin(); home != shelves_.end();) {
    auto& all = home->second.records;
    for (auto at = all.begin(); at != all.end();) {
      const auto next = std::next(at);
      if (at->second.expires > now)
        earliest_ = std::min(earliest_, at->second.expires);
      else
        take_out(home->second, at);
      at = next;
    }
    home = all.empty() ? shelves_.erase(home) : std::next(home);
  }
}

} // namespace potluck
