/// How experts stand in the DHT: keys, records, and when to publish them.
///
/// Under the key of a uid: who hosts it, one record a host. Under the key of a
/// prefix: which coordinates come next, one record a host, a byte each. All
/// live 120 s. Each host speaks for itself; what is malformed is ignored.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/experts.hpp"
#include "messages/routing.hpp"
#include "runtime/clock.hpp"
#include "runtime/experts/expert_uid.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Life of an announcement (Learning@home's), and when it is renewed: two lost
/// publications do no harm.
constexpr auto announcement_life = 120s;
constexpr auto announcement_renewal = announcement_life / 3;
/// Between two publications of one key while experts are being made, and
/// publications begun at one look of `expert_interval`.
constexpr auto announcement_pause = 2s;
constexpr std::size_t announcements_at_once = 16;
/// Keys of which a caller remembers look-ups.
constexpr std::size_t expert_lookups_kept = 16384;
/// A host's lease, how often it renews it, and how often guards look: a host is
/// given up after two looks in a row without it, 16 s after its end at most.
constexpr auto expert_lease_life = 10s;
constexpr auto expert_lease_renewal = 3s;
constexpr auto expert_lease_look = 2500ms;
constexpr unsigned expert_lease_misses = 2;
/// Life of a host's record among all hosts, its renewal, and how often others
/// look; sooner while nobody is known.
constexpr auto expert_hosts_life = 30s;
constexpr auto expert_hosts_renewal = 10s;
constexpr auto expert_hosts_look = 10s;
constexpr auto expert_hosts_first_look = 1s;
/// Between two looks of a host for others of its experts, and between two
/// offers of a version that a guard holds already. A guard whose owner lives
/// drops what was not offered for so long.
constexpr auto expert_rivals_look = announcement_renewal;
constexpr auto replica_renewal = announcement_renewal;
constexpr auto replica_life = 4 * replica_renewal;

} // namespace potluck::limits

namespace potluck {

/// Of a uid or a prefix of one, in the network of one run.
record_key expert_key(const std::string& run, const std::string& name);

dht_record host_record(const std::string& run, const std::string& uid,
                       const expert_announcement& x);

/// Of those that keep replicas of a uid, as announcements: their contacts, and
/// the term and version of what they keep.
record_key replicas_key(const std::string& run, const std::string& uid);
dht_record replica_record(const std::string& run, const std::string& uid,
                          const expert_announcement& x);

/// Of all hosts of a run, and of one: its lease.
record_key hosts_key(const std::string& run);
record_key lease_key(const std::string& run, const peer_id& host);
dht_record hosts_record(const std::string& run, const expert_host_notice& x);
dht_record lease_record(const std::string& run, const expert_host_notice& x);

/// What the records under these two say, those that make sense.
std::vector<expert_host_notice>
notices_in(const std::vector<dht_record>& records);

/// What a host's experts have behind `prefix`; each below 256.
dht_record prefix_record(const std::string& run, const peer_id& host,
                         const std::string& prefix,
                         const std::set<std::uint32_t>& coordinates);

/// What the records of a uid's key say, those that make sense.
std::vector<expert_announcement>
hosts_in(const std::vector<dht_record>& records);

/// What the records of a prefix's key say, ascending.
std::vector<std::uint32_t>
coordinates_in(const std::vector<dht_record>& records);

/// Which keys of a host's experts are due to be published. New ones are at
/// once, then every third of a record's life; a key whose records change is
/// due again, but not before `announcement_pause`.
class announcements {
public:
  /// The names to publish: uids and prefixes.
  struct due_names {
    std::vector<std::string> uids;
    std::map<std::string, std::set<std::uint32_t>> prefixes;
  };

  void add(const expert_uid& uid, time_point now);
  /// Its records are not renewed any more; they die by themselves.
  void withdraw(const expert_uid& uid);

  /// Counts as published what it returns, `at_most` keys.
  due_names due(time_point now, std::size_t at_most);

private:
  struct entry {
    time_point next;
    time_point published;
    bool ever = false;
    /// Behind a prefix, and in how many uids each; empty for a uid.
    std::map<std::uint32_t, std::size_t> coordinates;
  };

  std::map<std::string, entry> entries_;
};

} // namespace potluck
