/// This peer as a node of the DHT: which nodes it knows, which records it keeps
/// for others, and what it answers them.
///
/// Pure: requests and the time come in, answers go out. What it asks others is
/// `dht_client`'s.
#pragma once

#include <map>

#include "runtime/dht/notary.hpp"
#include "runtime/dht/record_store.hpp"
#include "runtime/dht/routing_table.hpp"
#include "runtime/dht/silent_nodes.hpp"

namespace potluck {

class dht_node {
public:
  /// @param seed Of the records that are chosen where there are too many.
  /// @param how Null: see `notary`.
  dht_node(const peer_id& self, std::uint64_t seed, shared_signatures how)
      : random_(seed), table_(self), notary_(std::move(how)) {
  }

  /// See `notary::clocks`.
  void clocks(std::uint64_t own_ms, std::uint64_t swarm_ms) {
    notary_.clocks(own_ms, swarm_ms);
  }

  /// Somebody that is no node has connected, from there and not by way of a
  /// hub.
  void came(const contact& who) {
    connected_[who.id] = {who.where, false};
  }
  /// A node has connected.
  /// @returns One to ping, which may have gone: its place is wanted.
  std::optional<contact> joined(const contact& who, time_point now);
  /// It is connected no more. It may come back.
  void left(const peer_id& who) {
    connected_.erase(who);
  }
  /// It is none any more.
  void routes_no_more(const peer_id& who);
  /// It has answered. A contributor answers what it is asked, too, but nobody
  /// should hear of it as a node: only a connected node counts, where it is
  /// connected from.
  void lives(const peer_id& who, time_point now);
  /// It has let a request pass unanswered.
  void failed(const peer_id& who, time_point now) {
    table_.failed(who);
    silent_.failed(who, now);
  }
  /// See `silent_nodes`.
  bool puts_off(const peer_id& who, time_point now) const {
    return silent_.puts_off(who, now);
  }
  /// Whether it has a place among the nodes that this one knows.
  bool knows(const peer_id& who) const {
    return table_.find(who).has_value();
  }

  /// Those closest to a point that this node knows.
  std::vector<contact> closest(const record_key& target) const {
    return table_.closest(target, bucket_size);
  }
  /// Where a look-up begins: with the closest, and in case of doubt with the
  /// one of each bucket that has been known for longest, too.
  std::vector<contact> seeds(const record_key& target) const;
  /// How far from each other nodes lie, as a part of the space, by this node's
  /// own neighbours; 0 while it knows too few.
  double spacing() const;
  /// Points to look up now, so that the table stays complete.
  std::vector<record_key> refresh_targets(time_point now);
  void looked_up(const record_key& target, time_point now) {
    table_.looked_up(target, now);
  }

  /// Seals and keeps a record of this peer's.
  /// @returns Whether it could: see `notary::seal`.
  bool keep_own(dht_record& record, time_point now) {
    if (!notary_.seal(record))
      return false;
    store_.store(record, now);
    return true;
  }
  /// See `notary::forgeries`.
  std::uint64_t forgeries() const {
    return notary_.forgeries();
  }
  /// Those of a look-up's answer that are their owners' word, and newer than
  /// what is kept here and what that look-up has found.
  std::vector<dht_record> read(const peer_id& from,
                               std::vector<dht_record> said,
                               const notary::known& found, time_point now);
  std::vector<dht_record> stored(const record_key& key, time_point now) const {
    return store_.find(key, now);
  }
  /// Records whose life is over are dropped.
  /// @returns Whether others are left, which will expire.
  bool expire(time_point now);

  // What others ask.
  routing_pong answer(const routing_ping& x) const {
    return {x.token};
  }
  nodes_found answer(const find_nodes& x) const;
  records_stored answer(const peer_id& from, store_records x, time_point now);
  records_found answer(const find_records& x, time_point now);

private:
  /// The closest nodes to a point, but for those that the asker knows.
  std::vector<contact> closest_unknown(const record_key& target,
                                       const known_marks& known,
                                       std::uint64_t token) const;

  random_stream random_;
  routing_table table_;
  silent_nodes silent_;
  record_store store_;
  notary notary_;
  struct connection {
    address where;
    bool is_node = false;
  };
  std::map<peer_id, connection> connected_; ///< Directly.
};

} // namespace potluck
