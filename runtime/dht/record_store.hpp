/// The DHT records that this peer keeps for others, until they expire.
///
/// Pure bookkeeping; expiry is seen by whoever passes `now`. Many peers publish
/// under one key, told apart by sub-key (hivemind's dictionaries). It does not
/// know who sent a record: without signatures, a sub-key is nobody's property.
///
/// Differences from the paper: records have sub-keys; each record brings its
/// own life of minutes (paper: 24 hours, refreshed hourly), and only its
/// publisher stores it anew, because what peers publish here is outdated within
/// a minute.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "messages/routing.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// Longest life of a record: a vanished publisher is forgotten after it.
constexpr duration max_record_life = std::chrono::minutes{10};
/// Longest value: a progress report takes 200 to 400 bytes; room to grow
/// tenfold.
constexpr std::size_t max_value_bytes = 4096;
/// What a record is charged beyond its sub-key and value: its key and the
/// containers around it, in memory as well as on the wire.
constexpr std::size_t record_overhead_bytes = 128;
/// All records of one key together: they travel in one answer, whose head may
/// have 1 MiB. Enough for 1,000 progress reports.
constexpr std::size_t max_key_bytes = 512 * 1024;
/// Records of one key: what a look-up merges in a few milliseconds.
constexpr std::size_t max_key_records = 2048;
/// All records together: a volunteer's memory is lent for training, not this.
constexpr std::size_t max_store_bytes = 16 * 1024 * 1024;

class record_store {
public:
  enum class verdict {
    stored,         ///< Kept under a sub-key that was not known.
    refreshed,      ///< Kept; it outlives what was known of its sub-key.
    older,          ///< What is known of its sub-key lives as long or longer.
    lifeless,       ///< It claims no remaining life.
    too_large,      ///< Its value or its sub-key is above its limit.
    too_long_lived, ///< It claims more than `max_record_life`.
    full,           ///< Its key, or the store, has no room left.
  };

  /// @param capacity Bytes for all records, overheads included.
  explicit record_store(std::size_t capacity = max_store_bytes);

  /// Keeps `record` from `now` on, or says why not. Of one sub-key, the record
  /// that expires last wins. A refused record changes nothing.
  verdict store(const dht_record& record, time_point now);

  /// The records of `key` in the order of their sub-keys, with the life that
  /// remains to them. Lives below a millisecond count as none.
  std::vector<dht_record> find(const record_key& key, time_point now) const;

  /// Drops what has expired. Cheap when nothing has.
  void expire(time_point now);

  /// Records held, expired ones that were not dropped yet included.
  std::size_t size() const {
    return count_;
  }
  /// Bytes charged for them.
  std::size_t bytes() const {
    return bytes_;
  }

private:
  struct kept {
    std::string value;
    time_point expires;
  };
  struct shelf {
    std::map<std::string, kept> records;
    std::size_t bytes = 0;
  };

  std::size_t capacity_;
  std::map<record_key, shelf> shelves_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  /// Nothing expires before this.
  time_point earliest_ = time_point::max();
};

/// What keeps `record` from being stored or merged anywhere, whatever else is
/// known; `stored` when nothing does.
record_store::verdict inspect(const dht_record& record);

} // namespace potluck
