/// The DHT records that this peer keeps for others, until they expire.
///
/// Pure bookkeeping; expiry is seen by whoever passes `now`. Many peers publish
/// under one key, told apart by sub-key (hivemind's dictionaries): each one
/// record, the one with its highest number. That a record is its owner's own
/// word is the notary's business; here nobody gets more room than his share.
///
/// Differences from the paper: records have sub-keys; each record brings its
/// own life of minutes (paper: 24 hours, refreshed hourly), and only its
/// publisher stores it anew, because what peers publish here is outdated within
/// a minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "messages/routing.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// What a record is charged beyond its sub-key and value: its key, its seal and
/// the containers around it, in memory as well as on the wire.
constexpr std::size_t record_overhead_bytes = 480;
/// All records of one key together: 1,000 progress reports, of which an answer
/// has 256.
constexpr std::size_t max_key_bytes = 1024 * 1024;
/// Records of one key: what a look-up merges in a few milliseconds.
constexpr std::size_t max_key_records = 2048;
/// All records together: a volunteer's memory is lent for training, not this.
constexpr std::size_t max_store_bytes = 16 * 1024 * 1024;
/// Those of one owner, a host of a thousand experts.
constexpr std::size_t max_owner_bytes = 1024 * 1024;
/// Those that come from one network of the internet: a school of forty, each
/// host of a thousand experts, has less than a quarter of the store.
constexpr std::size_t max_network_bytes = 4 * 1024 * 1024;

class record_store {
public:
  enum class verdict {
    stored,         ///< Kept under a sub-key that was not known.
    refreshed,      ///< Kept in the place of what was known of its sub-key.
    older,          ///< What is known of its sub-key has a higher number, or
                    ///< the same and lives as long.
    lifeless,       ///< It claims no remaining life.
    too_large,      ///< Its value or its sub-key is above its limit.
    too_long_lived, ///< It claims more than `max_record_life_ms`.
    full,           ///< Its owner, key, network or the store has no room left.
  };

  /// @param capacity Bytes for all records, overheads included.
  explicit record_store(std::size_t capacity = max_store_bytes);

  /// Keeps `record` from `now` on, or says why not. Of one sub-key the highest
  /// number wins; of equal ones, the record that expires last. A refused record
  /// changes nothing.
  ///
  /// Where there is no room, a record of the network gives way that has more
  /// than this one's: a thousand ids behind one address keep nobody else out.
  /// This peer's own never do.
  /// @param network Who sends it is in (`network_of`); empty: this peer.
  verdict store(const dht_record& record, time_point now,
                const std::string& network = "");

  /// The records of `key` in the order of their sub-keys, with the life that
  /// remains to them. Lives below a millisecond count as none.
  std::vector<dht_record> find(const record_key& key, time_point now) const;

  /// The number of what is held of a key and sub-key, living or not dropped
  /// yet.
  std::optional<std::uint64_t> number(const record_key& key,
                                      const std::string& subkey) const;

  /// Drops what has expired. Cheap when nothing has.
  void expire(time_point now);

  /// Records held, expired ones that were not dropped yet included.
  std::size_t size() const {
    return by_expiry_.size();
  }
  /// Bytes charged for them.
  std::size_t bytes() const {
    return bytes_;
  }

private:
  struct kept {
    dht_record record;
    time_point expires;
    std::string network;
    std::uint64_t number; ///< Of those that were ever kept.
  };
  /// Who expires first stands first.
  using queue = std::map<std::pair<time_point, std::uint64_t>, const kept*>;
  using tally = std::map<std::string, std::size_t>;
  /// What one network has here.
  struct crowd {
    std::size_t bytes = 0;
    queue records;
  };
  struct shelf {
    std::map<std::string, kept> records; ///< By sub-key.
    tally networks;                      ///< Records of each.
    std::size_t bytes = 0;
  };
  using shelves = std::map<record_key, shelf>;

  static std::size_t charge(const dht_record& x);
  void put(kept x);
  void take_out(const kept& x);
  /// Keeps the networks in the order of their sizes.
  void resize(const std::string& network, std::size_t from, std::size_t to);
  /// Takes out the record that expires first of the network with the most, of
  /// one key or of all, where it has two more than `network`.
  bool make_room(const record_key& key, const std::string& network);
  bool make_room(const std::string& network);

  std::size_t capacity_;
  shelves shelves_;
  tally owners_;                                        ///< Bytes, by sub-key.
  std::map<std::string, crowd> networks_;               ///< Empty: this peer.
  std::set<std::pair<std::size_t, std::string>> sizes_; ///< Of others'.
  queue by_expiry_;
  std::uint64_t next_number_ = 0;
  std::size_t bytes_ = 0;
};

/// What keeps `record` from being stored or merged anywhere, whatever else is
/// known; `stored` when nothing does.
record_store::verdict inspect(const dht_record& record);

} // namespace potluck
