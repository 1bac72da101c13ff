/// Whom a peer knows in the DHT: few far away, all nearby.
///
/// Pure bookkeeping after Maymounkov and Mazieres 2002, sections 2.2 and 4.1.
/// It never dials anybody: it says whom to ping, and is told who answered.
///
/// Differences from the paper:
/// - There is a bucket for each length of the shared prefix, instead of buckets
///   that split; section 2.4 splits further to shorten look-ups, which a
///   collaboration of thousands does not need.
/// - A newcomer makes a full bucket's oldest contact be pinged only when that
///   contact has been silent for `fresh_for`, and once per that time: a crowd
///   of newcomers must not make us ping on its behalf.
/// - An id whose contact was heard lately cannot be moved to another address:
///   ids are claims, and one may not hijack a living neighbour's.
/// - A contact goes after `max_failures` failures in a row (paper: five). One
///   that was known for less than `settled_after` goes at the first, when a
///   replacement waits: who was here for long stays for long, and what is lost
///   on its way must not hand its place to whoever waits for that.
/// - Of one network (/24, /48) two contacts have a place in a bucket, ten in
///   all: many ids behind few addresses cannot fill a table.
/// - Buckets are refreshed after half an hour (paper: an hour): our peers stay
///   for an evening; those so close that a look-up of the own id covers
///   them are not refreshed one by one. The own id is looked up every ten
///   minutes: records live for minutes, at the nodes that are closest.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/dht/xor_distance.hpp"
#include "runtime/random.hpp"

namespace potluck {

/// Contacts per bucket, answers per look-up, replicas per record (paper: k).
/// Large enough that k peers hardly ever leave within one record's life.
constexpr std::size_t bucket_size = 20;

class routing_table {
public:
  /// Candidates kept per full bucket, in case one of its contacts fails.
  static constexpr std::size_t max_replacements = 8;
  /// Failures in a row after which a contact is dropped without replacement.
  static constexpr unsigned max_failures = 3;
  /// After how long a contact is not given up at its first failure.
  static constexpr duration settled_after = std::chrono::minutes{10};
  /// Contacts of one crowd (`crowd_of`), replacements included: in a bucket,
  /// and in all of them.
  static constexpr std::size_t most_of_crowd = 2;
  static constexpr std::size_t most_of_crowd_in_all = 10;
  /// For how long a contact that was heard counts as alive.
  static constexpr duration fresh_for = std::chrono::seconds{60};
  /// After how long without a look-up in its range a bucket is refreshed, and
  /// after how long the own id is looked up again.
  static constexpr duration refresh_after = std::chrono::minutes{30};
  static constexpr duration self_refresh_after = std::chrono::minutes{10};

  enum class verdict {
    added,      ///< The contact is new and has a place.
    refreshed,  ///< It was known, or is known at a new address now.
    waiting,    ///< Its bucket is full; it waits as a replacement.
    contested,  ///< Its id was heard elsewhere just now; nothing changed.
    crowded,    ///< Its network has its share of places; nothing changed.
    itself,     ///< It bears our own id; nothing changed.
    undialable, ///< It has no usable address; nothing changed.
  };

  struct outcome {
    verdict what;
    /// The contact to ping, when the newcomer's bucket may hold a dead one.
    /// Report the result through `seen` or `failed`.
    std::optional<contact> ping;
  };

  /// @param self Our own id; never a contact of this table.
  /// @param capacity Contacts per bucket. Not zero.
  explicit routing_table(const peer_id& self,
                         std::size_t capacity = bucket_size);

  /// Counts a message from `who`. Only for peers that were heard themselves:
  /// a contact that others merely mention must not get in.
  outcome seen(const contact& who, time_point now);

  /// Counts a request that `who` left unanswered.
  void failed(const peer_id& who);

  /// Forgets `who`, for instance when it says goodbye.
  void remove(const peer_id& who);

  /// At most `n` contacts, closest to `target` first. Contacts that failed last
  /// are listed only when there are fewer than `n` others.
  std::vector<contact> closest(const record_key& target, std::size_t n) const;

  /// Of each bucket the contact that has had its place for longest.
  std::vector<contact> longest_known() const;

  /// Notes that a look-up of `target` was made, which refreshes its bucket.
  void looked_up(const record_key& target, time_point now);

  /// At most `limit` points to look up so that the table stays complete: the
  /// own id first, then a random point of each bucket that is due. Points that
  /// are returned count as looked up.
  std::vector<record_key> refresh_targets(time_point now, random_stream& random,
                                          std::size_t limit);

  /// The contact of `who`, if it has a place (replacements do not).
  std::optional<contact> find(const peer_id& who) const;

  /// Contacts with a place. At most 256 times the capacity.
  std::size_t size() const;

  const peer_id& self() const {
    return self_;
  }

private:
  struct entry {
    contact who;
    std::string crowd; ///< See `crowd_of`.
    time_point since;
    time_point last_seen;
    std::optional<time_point> pinged;
    unsigned failures = 0;

    bool gives_way() const {
      return failures >= max_failures
             || (failures > 0 && last_seen - since < settled_after);
    }
  };

  struct bucket {
    std::vector<entry> entries;      ///< Least recently seen first.
    std::vector<entry> replacements; ///< Likewise.
    std::optional<time_point> looked_up;
  };

  /// Null for our own id and point.
  bucket* bucket_at(std::size_t bits);
  bucket* bucket_of(const peer_id& who);
  /// Whether one more of this crowd may have a place.
  bool has_share(const bucket& home, const std::string& crowd) const;
  void put(std::vector<entry>& where, std::vector<entry>::iterator at, entry x);
  void take_out(std::vector<entry>& where, std::vector<entry>::iterator at);

  peer_id self_;
  std::size_t capacity_;
  std::vector<bucket> buckets_{1};            ///< As deep as was ever needed.
  std::map<std::string, std::size_t> crowds_; ///< Contacts of each.
  std::optional<time_point> looked_up_self_;
};

/// A random point that shares exactly `bits` leading bits with `self`.
/// Precondition: `bits` is below 256.
record_key random_point(const peer_id& self, std::size_t bits,
                        random_stream& random);

} // namespace potluck
