/// The router: Kademlia (runtime/dht) between the mailbox and the sessions.
///
/// Answers the routing messages of others, makes look-ups and publications for
/// this peer. What to say to whom is decided by `dht_node` and `dht_client`.
#pragma once

#include <functional>
#include <map>

#include "actors/handles.hpp"
#include "runtime/dht/dht_client.hpp"
#include "runtime/dht/swarm_clock.hpp"
#include "runtime/fault_points.hpp"

namespace potluck {

struct router_config {
  peer_id self;
  std::uint64_t seed = 0; ///< Of this router's random choices.
  /// A trainer, whose cell will say whether it keeps its table fresh: a crowd
  /// of newcomers would dial each other for it.
  bool newcomer = false;
  /// What it signs its records with; null: it publishes none, and believes
  /// none.
  shared_signatures how = {};
  /// What this machine's clock says, in milliseconds since 1970; null: the
  /// actors' clock counts.
  std::function<std::uint64_t()> wall_clock = {};
};

class router_state {
public:
  void init(router_actor::pointer self, router_config config);

  void on(const router_handles& w) {
    wired_ = w;
  }
  void on(const letter& x) {
    std::visit([&](const auto& y) { read(x.from, y); }, x.content);
  }
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const dial_failed& x) {
    carry_out(client_->lost(x.expected, now()));
  }
  void on(const routes_no_more& x);
  void on(const links_wanted& x) {
    quiet_ = !x.everybody;
    tick_soon();
  }
  void on(const publish_record& x);
  void on(const look_up_records& x);
  void on(const tick&);

private:
  time_point now() const {
    return self_->clock().now();
  }
  void reply(const peer_id& to, message content) {
    self_->send(wired_.gateway, parcel{to, std::move(content), {}});
  }

  // What others ask,
  void read(const peer_id& from, const routing_ping& x) {
    reply(from, node_->answer(x));
  }
  void read(const peer_id& from, const find_nodes& x) {
    reply(from, node_->answer(x));
  }
  void read(const peer_id& from, const find_records& x) {
    if (!strikes(fault_point::lookup_unanswered))
      reply(from, node_->answer(x, now()));
  }
  void read(const peer_id& from, const store_records& x) {
    set_clocks();
    reply(from, node_->answer(from, x, now()));
    note_forgeries(from);
    tick_soon(); // It will expire.
  }
  // and what they answer.
  void read(const peer_id& from, const routing_pong& x) {
    carry_out(client_->read(from, x, now()));
  }
  void read(const peer_id& from, const records_stored& x) {
    carry_out(client_->read(from, x, now()));
  }
  void read(const peer_id& from, const nodes_found& x) {
    carry_out(client_->read(from, x, now()));
  }
  void read(const peer_id& from, const records_found& x) {
    set_clocks();
    carry_out(client_->read(from, x, now()));
    note_forgeries(from);
  }
  template <class Other>
  void read(const peer_id&, const Other&) {
    // Sessions deliver nothing else here.
  }

  void carry_out(dht_actions xs);
  void carry_out(dht_call& x);
  void carry_out(lookup_over& x);
  void carry_out(publication_over& x);
  /// Something may expire, or the table wants to be kept fresh.
  void tick_soon();
  std::uint64_t wall_ms() const;
  void set_clocks();
  /// Says who has passed one on; it is not read any more for a while.
  void note_forgeries(const peer_id& from);

  router_actor::pointer self_ = nullptr;
  router_handles wired_;
  std::function<std::uint64_t()> wall_clock_;
  swarm_clock swarm_;
  std::optional<dht_node> node_;
  std::optional<dht_client> client_;
  std::map<std::uint64_t, records_reader> askers_; ///< By look-up.
  std::uint64_t next_lookup_ = 0;
  std::uint64_t forgeries_ = 0; ///< Said so far.
  /// Has few connections and wants no more, or has not decided yet: the table
  /// is not kept fresh.
  bool quiet_ = false;
  bool ticking_ = false;
};

router_actor::behavior_type
router(router_actor::stateful_pointer<router_state> self, router_config config);

} // namespace potluck
