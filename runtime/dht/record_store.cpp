#include "runtime/dht/record_store.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/dialable.hpp"

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

void record_store::resize(const std::string& network, std::size_t from,
                          std::size_t to) {
  if (network.empty())
    return;
  sizes_.erase({from, network});
  if (to > 0)
    sizes_.emplace(to, network);
}

void record_store::put(kept x) {
  const auto cost = charge(x.record);
  x.number = next_number_++;
  auto& home = shelves_[x.record.key];
  home.bytes += cost;
  bytes_ += cost;
  owners_[x.record.subkey] += cost;
  ++home.networks[x.network];
  const auto& at = home.records[x.record.subkey] = std::move(x);
  auto& all = networks_[at.network];
  all.bytes += cost;
  all.records.emplace(std::pair{at.expires, at.number}, &at);
  by_expiry_.emplace(std::pair{at.expires, at.number}, &at);
  resize(at.network, all.records.size() - 1, all.records.size());
}

void record_store::take_out(const kept& x) {
  const auto less = [](tally& from, const std::string& name, std::size_t by) {
    auto at = from.find(name);
    at->second -= by;
    if (at->second == 0)
      from.erase(at);
  };
  const auto cost = charge(x.record);
  const auto home = shelves_.find(x.record.key);
  home->second.bytes -= cost;
  bytes_ -= cost;
  less(owners_, x.record.subkey, cost);
  less(home->second.networks, x.network, 1);
  const auto all = networks_.find(x.network);
  all->second.bytes -= cost;
  all->second.records.erase({x.expires, x.number});
  by_expiry_.erase({x.expires, x.number});
  const auto left = all->second.records.size();
  resize(x.network, left + 1, left);
  if (left == 0)
    networks_.erase(all);
  home->second.records.erase(home->second.records.find(x.record.subkey));
  if (home->second.records.empty())
    shelves_.erase(home);
}

bool record_store::make_room(const record_key& key,
                             const std::string& network) {
  const auto& home = shelves_.at(key);
  auto most = home.networks.end();
  for (auto i = home.networks.begin(); i != home.networks.end(); ++i)
    if (!i->first.empty()
        && (most == home.networks.end() || i->second > most->second))
      most = i;
  const auto own = home.networks.find(network);
  const auto least = (own == home.networks.end() ? 0 : own->second) + 2;
  if (most == home.networks.end() || most->second < least)
    return false;
  const kept* first = nullptr;
  for (const auto& [subkey, x] : home.records)
    if (x.network == most->first
        && (first == nullptr || x.expires < first->expires))
      first = &x;
  take_out(*first);
  return true;
}

bool record_store::make_room(const std::string& network) {
  const auto own = networks_.find(network);
  const auto least
      = (own == networks_.end() ? 0 : own->second.records.size()) + 2;
  if (sizes_.empty() || sizes_.rbegin()->first < least)
    return false;
  take_out(*networks_.at(sizes_.rbegin()->second).records.begin()->second);
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
  const kept* known = nullptr;
  std::size_t of_key = 0;
  std::size_t bytes_of_key = 0;
  const auto look = [&] {
    const auto home = shelves_.find(record.key);
    if (home == shelves_.end()) {
      of_key = bytes_of_key = 0;
      return;
    }
    const auto at = home->second.records.find(record.subkey);
    known = at == home->second.records.end() ? nullptr : &at->second;
    of_key = home->second.records.size();
    bytes_of_key = home->second.bytes;
  };
  look();
  const bool fresh = known == nullptr;
  std::size_t freed = 0;
  if (!fresh) {
    const auto number = known->record.seal.number;
    if (number > record.seal.number
        || (number == record.seal.number && known->expires >= expires))
      return verdict::older;
    freed = charge(known->record);
  }
  const auto is_full = [&](std::size_t held, std::size_t most) {
    return held - freed + cost > most;
  };
  const auto owner = owners_.find(record.subkey);
  bool room
      = owner == owners_.end() || !is_full(owner->second, max_owner_bytes);
  if (const auto all = networks_.find(network);
      room && fresh && !network.empty() && !is_local(network)
      && all != networks_.end())
    room = !is_full(all->second.bytes, max_network_bytes);
  while (room
         && (is_full(bytes_of_key, max_key_bytes)
             || (fresh && of_key >= max_key_records))) {
    room = fresh && make_room(record.key, network);
    look();
  }
  while (room && is_full(bytes_, capacity_))
    room = fresh && make_room(network);
  if (!room)
    return verdict::full;
  if (!fresh)
    take_out(*known);
  put({record, expires, network, 0});
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
  while (!by_expiry_.empty() && by_expiry_.begin()->first.first <= now)
    take_out(*by_expiry_.begin()->second);
}

} // namespace potluck
