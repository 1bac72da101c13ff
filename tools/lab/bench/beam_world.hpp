/// A DHT of thousands of nodes within memory, in virtual time: what experiments
/// with look-ups need of a network.
///
/// Nodes are the classes of runtime/dht. Routing tables are as full as those of
/// peers that have known each other for long: of each bucket's nodes twenty, by
/// chance, who have answered once. Messages take drawn delays and are never
/// lost; who has vanished answers nobody, and is noticed after the patience
/// that the router would have (actors/router).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <vector>

#include "runtime/dht/lookup.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/random.hpp"

namespace potluck::bench {

class beam_world {
public:
  struct settings {
    std::size_t nodes = 100;
    duration mean_delay{0}; ///< One way.
    bool dials = true;
    std::uint64_t seed = 1;
  };
  /// What a look-up came to.
  struct finding {
    std::vector<dht_record> records;
    std::size_t requests = 0;
    std::size_t answers = 0;
    std::size_t hops = 0;
  };
  using node = std::size_t;

  explicit beam_world(const settings& how);

  time_point now() const {
    return now_;
  }
  random_stream& chance() {
    return chance_;
  }
  std::size_t size() const {
    return nodes_.size();
  }
  const contact& who(node x) const {
    return nodes_[x]->who;
  }
  void vanish(node x) {
    nodes_[x]->vanished = true;
  }

  /// Stores records of one key at once where a look-up by `from` would, without
  /// delays.
  void publish(node from, const std::vector<dht_record>& records);

  /// Begins a look-up for records; `done` is called in virtual time.
  void look_up(node from, const record_key& key,
               std::function<void(finding)> done);

  /// Runs until nothing is under way.
  void run();

private:
  struct member {
    member(const contact& who, const deadline_estimator::settings& patience)
        : who(who), table(who.id), answers(patience) {
    }
    contact who;
    routing_table table;
    record_store store;
    deadline_estimator answers;
    std::set<node> connected;
    bool vanished = false;
  };
  struct errand;
  struct event {
    time_point due;
    std::uint64_t number;
    std::function<void()> run;
    bool operator<(const event& x) const { // The earliest is the greatest.
      return due != x.due ? due > x.due : number > x.number;
    }
  };

  void acquaint();
  void after(duration wait, std::function<void()> run);
  duration delay();
  void advance(const std::shared_ptr<errand>& x);
  void ask(const std::shared_ptr<errand>& x, const contact& to);

  settings how_;
  random_stream chance_;
  time_point now_{};
  std::vector<std::unique_ptr<member>> nodes_; ///< Ascending ids.
  std::map<peer_id, node> by_id_;
  std::priority_queue<event> events_;
  std::uint64_t number_ = 0;
};

} // namespace potluck::bench
