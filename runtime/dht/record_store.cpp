#include "runtime/dht/record_store.hpp"

#include <algorithm>

#include "messages/limits.hpp"

namespace potluck {

namespace {

std::size_t charge(const std::string& subkey, const std::string& value) {
  return subkey.size() + value.size() + record_overhead_bytes;
}

} // namespace

record_store::verdict inspect(const dht_record& record) {
  using verdict = record_store::verdict;
  if (record.lives_ms == 0)
    return verdict::lifeless;
  if (std::chrono::milliseconds{record.lives_ms} > max_record_life)
    return verdict::too_long_lived;
  if (record.value.size() > max_value_bytes
      || record.subkey.size() > max_subkey_bytes)
    return verdict::too_large;
  return verdict::stored;
}

record_store::record_store(std::size_t capacity) : capacity_(capacity) {
}

record_store::verdict record_store::store(const dht_record& record,
                                          time_point now) {
  if (auto problem = inspect(record); problem != verdict::stored)
    return problem;
  expire(now);
  const auto expires = now + std::chrono::milliseconds{record.lives_ms};
  const auto cost = charge(record.subkey, record.value);

  std::size_t key_records = 0;
  std::size_t key_bytes = 0;
  std::size_t freed = 0;
  auto home = shelves_.find(record.key);
  if (home != shelves_.end()) {
    key_records = home->second.records.size();
    key_bytes = home->second.bytes;
    auto known = home->second.records.find(record.subkey);
    if (known != home->second.records.end()) {
      if (known->second.expires >= expires)
        return verdict::older;
      freed = charge(known->first, known->second.value);
    }
  }
  if (bytes_ - freed + cost > capacity_
      || key_bytes - freed + cost > max_key_bytes
      || (freed == 0 && key_records >= max_key_records))
    return verdict::full;

  auto& shelf = home != shelves_.end() ? home->second : shelves_[record.key];
  shelf.records[record.subkey] = {record.value, expires};
  shelf.bytes += cost - freed;
  bytes_ += cost - freed;
  count_ += freed == 0 ? 1 : 0;
  earliest_ = std::min(earliest_, expires);
  return freed == 0 ? verdict::stored : verdict::refreshed;
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
    if (left.count() > 0)
      result.push_back(
          {key, subkey, kept.value, static_cast<std::uint32_t>(left.count())});
  }
  return result;
}

void record_store::expire(time_point now) {
  if (now < earliest_)
    return;
  earliest_ = time_point::max();
  for (auto home = shelves_.begin(); home != shelves_.end();) {
    auto& shelf = home->second;
    for (auto at = shelf.records.begin(); at != shelf.records.end();) {
      if (at->second.expires > now) {
        earliest_ = std::min(earliest_, at->second.expires);
        ++at;
        continue;
      }
      auto cost = charge(at->first, at->second.value);
      shelf.bytes -= cost;
      bytes_ -= cost;
      --count_;
      at = shelf.records.erase(at);
    }
    home = shelf.records.empty() ? shelves_.erase(home) : std::next(home);
  }
}

} // namespace potluck
