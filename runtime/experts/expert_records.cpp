#include "runtime/experts/expert_records.hpp"

#include <algorithm>

#include "messages/codec.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

namespace {

std::uint32_t life(std::chrono::milliseconds x = limits::announcement_life) {
  return static_cast<std::uint32_t>(x.count());
}

} // namespace

record_key expert_key(const std::string& run, const std::string& name) {
  // A run's name may hold anything, but its length says where it ends.
  return key_of("expert/" + std::to_string(run.size()) + "/" + run + "/"
                + name);
}

dht_record host_record(const std::string& run, const std::string& uid,
                       const expert_announcement& x) {
  return {expert_key(run, uid), subkey_of(x.host.id), encode_announcement(x),
          life(), record_kind::expert_host};
}

// A name with a space is no uid and no prefix.
record_key replicas_key(const std::string& run, const std::string& uid) {
  return expert_key(run, uid + " replicas");
}

dht_record replica_record(const std::string& run, const std::string& uid,
                          const expert_announcement& x) {
  return {replicas_key(run, uid), subkey_of(x.host.id), encode_announcement(x),
          life(), record_kind::replica};
}

record_key hosts_key(const std::string& run) {
  return expert_key(run, " hosts");
}

record_key lease_key(const std::string& run, const peer_id& host) {
  return expert_key(run, " lease " + to_string(host));
}

dht_record hosts_record(const std::string& run, const expert_host_notice& x) {
  return {hosts_key(run), subkey_of(x.host.id), encode_notice(x),
          life(limits::expert_hosts_life), record_kind::host_notice};
}

dht_record lease_record(const std::string& run, const expert_host_notice& x) {
  return {lease_key(run, x.host.id), subkey_of(x.host.id), encode_notice(x),
          life(limits::expert_lease_life), record_kind::host_notice};
}

std::vector<expert_host_notice>
notices_in(const std::vector<dht_record>& records) {
  std::vector<expert_host_notice> result;
  for (auto& record : records) {
    auto x = decode_notice(record.value);
    if (x && record.subkey == subkey_of(x->host.id) && dialable(x->host))
      result.push_back(*x);
  }
  return result;
}

dht_record prefix_record(const std::string& run, const peer_id& host,
                         const std::string& prefix,
                         const std::set<std::uint32_t>& coordinates) {
  static_assert(limits::expert_coordinates == 256, "a byte says each");
  return {expert_key(run, prefix),
          subkey_of(host),
          {coordinates.begin(), coordinates.end()},
          life(),
          record_kind::coordinates};
}

std::vector<expert_announcement>
hosts_in(const std::vector<dht_record>& records) {
  std::vector<expert_announcement> result;
  for (auto& record : records) {
    auto x = decode_announcement(record.value);
    if (x && record.subkey == subkey_of(x->host.id) && dialable(x->host))
      result.push_back(*x);
  }
  return result;
}

std::vector<std::uint32_t>
coordinates_in(const std::vector<dht_record>& records) {
  std::set<std::uint32_t> all;
  for (auto& record : records)
    if (record.kind == record_kind::coordinates)
      for (auto x : record.value)
        all.insert(static_cast<std::uint8_t>(x));
  return {all.begin(), all.end()};
}

void announcements::add(const expert_uid& uid, time_point now) {
  auto [own, fresh] = entries_.try_emplace(to_string(uid));
  if (!fresh)
    return;
  own->second.next = now;
  auto prefixes = prefixes_of(uid);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    auto [e, first] = entries_.try_emplace(prefixes[i]);
    auto& x = e->second;
    if (first)
      x.next = now;
    if (++x.coordinates[uid.place[i]] == 1 && x.ever)
      x.next = std::min<time_point>(
          x.next,
          std::max(now, x.published + duration{limits::announcement_pause}));
  }
}

void announcements::withdraw(const expert_uid& uid) {
  if (entries_.erase(to_string(uid)) == 0)
    return;
  auto prefixes = prefixes_of(uid);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    auto e = entries_.find(prefixes[i]);
    auto& coordinates = e->second.coordinates;
    auto c = coordinates.find(uid.place[i]);
    if (--c->second == 0)
      coordinates.erase(c);
    if (coordinates.empty())
      entries_.erase(e);
  }
}

announcements::due_names announcements::due(time_point now,
                                            std::size_t at_most) {
  std::vector<std::map<std::string, entry>::iterator> ripe;
  for (auto i = entries_.begin(); i != entries_.end(); ++i)
    if (i->second.next <= now)
      ripe.push_back(i);
  // Whoever has waited longest first; equal ones in the order of their names.
  std::stable_sort(ripe.begin(), ripe.end(), [](auto a, auto b) {
    return a->second.next < b->second.next;
  });
  if (ripe.size() > at_most)
    ripe.resize(at_most);
  due_names result;
  for (auto i : ripe) {
    auto& x = i->second;
    x.ever = true;
    x.published = now;
    x.next = now + duration{limits::announcement_renewal};
    if (x.coordinates.empty()) {
      result.uids.push_back(i->first);
      continue;
    }
    auto& coordinates = result.prefixes[i->first];
    for (auto& [c, uids] : x.coordinates)
      coordinates.insert(c);
  }
  return result;
}

} // namespace potluck
