/// Thousands of routers in virtual time: the DHT alone, as actors/router drives
/// it, over lines that only take time.
///
/// Honest nodes come and go. Sybils stay, know each other, name only each
/// other, and keep nothing that they say they keep. A node that is gone is
/// noticed by a dial that fails, or after a while by whoever is connected with
/// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <vector>

#include "runtime/dht/dht_client.hpp"
#include "runtime/random.hpp"

namespace potluck::swarm {

class world {
public:
  struct settings {
    std::size_t routers = 500;
    double sybils = 0.2;
    /// How long these take to answer, beyond the way.
    duration sybils_wait{0};
    /// Networks that they live in; 0: each in one of its own.
    std::size_t sybil_networks = 0;
    /// Likewise the honest ones; a campus is one.
    std::size_t networks = 0;
    double leaves_an_hour = 0.1; ///< And as many come.
    bool acquainted = true;      ///< They have known each other for long.
    std::uint64_t seed = 1;
  };
  using node = std::size_t;

  explicit world(const settings& how);
  ~world();

  time_point now() const {
    return now_;
  }
  random_stream& chance() {
    return chance_;
  }
  /// Lets time pass.
  void run_for(duration x);

  /// An honest node that is there.
  node any_honest();
  const contact& who(node x) const;
  bool is_there(node x) const;
  bool is_looking_up(node x) const;
  /// Those that come now join one of these; a swarm of its own begins so.
  node join(const std::vector<node>& seeds);
  /// Connects two that are there.
  void meet(node a, node b);

  /// Has a node publish its report under a key, at ten nodes.
  void publish(node from, const record_key& key);
  /// The number of its last record that nodes have been sent.
  std::uint64_t published(node from) const;

  /// Honest nodes that keep a record of a key.
  std::size_t copies(const record_key& key) const;

  struct finding {
    std::vector<dht_record> records;
    std::size_t requests = 0;
    std::size_t hops = 0; ///< To the first node that had any; 0: none.
    duration took{0};
  };
  /// `done` is called in virtual time. One at a time of each node.
  void look_up(node from, const record_key& key, bool matters,
               std::function<void(finding)> done);

  /// Bytes that honest nodes have sent, by dials, requests and answers.
  std::uint64_t bytes() const {
    return bytes_;
  }
  std::size_t honest() const {
    return honest_.size();
  }
  /// Sybils among the contacts that an honest node names for a point.
  std::size_t sybils_named(node x, const record_key& target) const;

private:
  struct member;
  struct event {
    time_point due;
    std::uint64_t number;
    std::function<void()> run;
    bool operator<(const event& x) const { // The earliest is the greatest.
      return due != x.due ? due > x.due : number > x.number;
    }
  };

  void after(duration wait, std::function<void()> run);
  duration delay();
  node add(bool sybil);
  void acquaint(const std::vector<node>& all);
  void leave(node x);
  void churn();
  void tick(node x);
  void tick_soon(node x);
  void link(node a, node b);
  void carry_out(node from, dht_actions xs);
  void carry_out(node from, const dht_call& x);
  void carry_out(node from, const lookup_over& x);
  void carry_out(node from, const publication_over& x);
  void send(node from, node to, message x, duration extra = {});
  void arrive(node from, node to, const message& x);
  message by_sybil(node x, const message& asked);
  std::vector<contact> closest_sybils(const record_key& target) const;
  void spent(node x, std::size_t bytes);

  settings how_;
  random_stream chance_;
  time_point now_{};
  std::vector<std::unique_ptr<member>> members_;
  std::map<peer_id, node> by_id_;
  std::vector<node> honest_; ///< There.
  std::map<peer_id, node> sybils_;
  std::priority_queue<event> events_;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace potluck::swarm
