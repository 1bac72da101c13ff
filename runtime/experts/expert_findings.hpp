/// What a caller's look-ups have found, for as long as it believes it.
///
/// Pure and bounded: the time is passed in; whoever owns it looks up.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/experts/expert_records.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A caller believes a look-up so long: who vanishes fails a call, no more.
constexpr auto expert_lookup_life = 10s;
/// The same when nobody was found.
constexpr auto expert_absence_life = 2s;

} // namespace potluck::limits

namespace potluck {

class expert_findings {
public:
  struct finding {
    time_point expires;
    std::vector<expert_announcement> hosts; ///< Of a uid.
    std::vector<std::uint32_t> coordinates; ///< Of a prefix.

    bool nobody() const {
      return hosts.empty() && coordinates.empty();
    }
  };

  /// Null when the key is to be looked up.
  const finding* find(const record_key& key, time_point now) const {
    auto i = known_.find(key);
    return i != known_.end() && now < i->second.expires ? &i->second : nullptr;
  }

  /// The records of a uid's key, or of a prefix's; who is not there may be
  /// there soon.
  finding keep(const record_key& key, bool prefix,
               const std::vector<dht_record>& records, time_point now) {
    if (known_.size() >= limits::expert_lookups_kept)
      known_.clear();
    auto& x = known_[key];
    x = {};
    if (prefix)
      x.coordinates = coordinates_in(records);
    else
      x.hosts = hosts_in(records);
    x.expires = now
                + (x.nobody() ? duration{limits::expert_absence_life}
                              : duration{limits::expert_lookup_life});
    return x;
  }

  /// None of the hosts is of use now; another may be there soon.
  void doubt(const record_key& key, time_point now) {
    if (auto i = known_.find(key); i != known_.end())
      i->second.expires = std::min(i->second.expires,
                                   now + duration{limits::expert_absence_life});
  }

  /// It is not true any more.
  void forget(const record_key& key) {
    known_.erase(key);
  }

  /// Drops what is not believed any more.
  void tidy(time_point now) {
    for (auto i = known_.begin(); i != known_.end();)
      i = i->second.expires <= now ? known_.erase(i) : std::next(i);
  }

private:
  std::map<record_key, finding> known_;
};

} // namespace potluck
