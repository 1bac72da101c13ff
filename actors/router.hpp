/// The router: Kademlia (runtime/dht) between the mailbox and the sessions.
///
/// Answers the routing messages of others from its table and store; makes
/// look-ups and publications for this peer. Every request in flight has a
/// deadline, so every look-up ends.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "actors/interfaces.hpp"
#include "runtime/config.hpp"
#include "runtime/dht/lookup.hpp"
#include "runtime/dht/record_store.hpp"
#include "runtime/dht/routing_table.hpp"
#include "runtime/dht/rpc_table.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/random.hpp"

namespace potluck {

struct router_config {
  peer_id self;
  std::uint64_t seed = 0; ///< Of this router's random choices.
  /// A trainer, whose cell will say whether it keeps its table fresh: a crowd
  /// of newcomers would dial each other for it.
  bool newcomer = false;
};

class router_state {
public:
  void init(router_actor::pointer self, router_config config);

  void on(const wiring& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const dial_failed& x);
  void on(const routes_no_more& x);
  void on(const links_wanted& x) {
    quiet_ = !x.everybody;
    tick_soon();
  }
  void on(const publish_record& x);
  void on(const look_up_records& x);
  void on(const tick&);

private:
  /// A look-up under way, and what its end is for.
  struct search {
    lookup state;
    bool for_records = false;
    records_reader asker;                ///< When for a reader.
    std::vector<dht_record> to_store;    ///< When for a publication.
    std::size_t copies = bucket_size;    ///< Of these.
    std::set<peer_id> stored_at = {};    ///< Those that it was sent to.
    std::vector<std::string> known = {}; ///< Sub-keys that the asker knows.
    std::uint32_t most = 0;              ///< Records of each node; 0: all.
    std::vector<std::uint32_t> stored
        = {}; ///< As each node that answered says.
  };
  /// A request in flight: the search that it serves, or 0 for a ping or store.
  struct purpose {
    std::uint64_t search = 0;
    address where;
  };

  /// The nodes closest to a key that something was published at.
  struct neighbourhood {
    std::vector<contact> nodes;
    caf::actor_clock::time_point found;
  };

  void read(const peer_id& from, const routing_ping& x);
  void read(const peer_id& from, const routing_pong& x);
  void read(const peer_id& from, const find_nodes& x);
  void read(const peer_id& from, const nodes_found& x);
  void read(const peer_id& from, const store_records& x);
  void read(const peer_id& from, const records_stored& x);
  void read(const peer_id& from, const find_records& x);
  void read(const peer_id& from, const records_found& x);
  template <class Other>
  void read(const peer_id&, const Other&) {
    // Sessions deliver nothing else here.
  }

  /// The nodes closest to a key, looked up not long ago; empty when not.
  std::vector<contact> remembered(const record_key& key);
  template <class Predicate>
  void forget_neighbourhoods(Predicate which);
  void forget_neighbourhoods_with(const peer_id& id);
  void store_at(const std::vector<contact>& nodes,
                const std::vector<dht_record>& records);
  /// Of nodes in the order of their distance, those that copies go to.
  static std::vector<contact> nearest(std::vector<contact> nodes,
                                      std::size_t copies);

  /// Something may expire, or the table wants to be kept fresh.
  void tick_soon();
  void begin(search s);
  void advance(std::uint64_t id);
  /// The closest nodes to a point, but for those that the asker knows.
  std::vector<contact> closest_unknown(const record_key& target,
                                       const known_marks& known,
                                       std::uint64_t token) const;
  void finish(search& s);
  /// Sends what is published to those closest that have answered meanwhile.
  void store_at_answered(search& s);
  void reply(const peer_id& to, message content);
  /// The request behind a token, if `from` was asked.
  std::optional<rpc_table<purpose>::pending> answered(const peer_id& from,
                                                      std::uint64_t token);
  void unanswered(const rpc_table<purpose>::pending& request);
  void too_late(const rpc_table<purpose>::pending& request);
  /// It has answered: it lives.
  void lives(const contact& who);
  std::optional<std::uint64_t> issue(const contact& who, std::uint64_t search);

  router_actor::pointer self_ = nullptr;
  router_config config_;
  wiring wired_;
  random_stream random_{0};
  std::optional<routing_table> table_;
  /// Nodes that are connected. A contributor answers what it is asked, but
  /// nobody should hear of it as a node.
  std::set<peer_id> connected_;
  record_store store_;
  rpc_table<purpose> requests_;
  deadline_estimator answers_{
      {limits::routing_floor, limits::routing_cap, limits::routing_patience}};
  /// Whose deadline has passed, by token: their answers may yet come.
  std::map<std::uint64_t, rpc_table<purpose>::pending> overdue_;
  std::map<std::uint64_t, search> searches_;
  std::map<record_key, neighbourhood> published_; ///< By key.
  std::uint64_t next_search_ = 1;
  /// Has few connections and wants no more, or has not decided yet: the table
  /// is not kept fresh.
  bool quiet_ = false;
  bool ticking_ = false;
};

router_actor::behavior_type
router(router_actor::stateful_pointer<router_state> self, router_config config);

} // namespace potluck
