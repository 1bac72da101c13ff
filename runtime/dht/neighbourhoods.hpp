/// The nodes closest to the keys that this peer publishes at: a peer that
/// publishes often need not look them up each time. Pure.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/dht/limits.hpp"
#include "runtime/dht/routing_table.hpp"

namespace potluck {

class neighbourhoods {
public:
  /// The nodes, if they were looked up not long ago; else none.
  std::vector<contact> of(const record_key& key, time_point now) {
    forget_if([&](const entry& x) {
      return now - x.found >= limits::closest_nodes_age;
    });
    auto at = known_.find(key);
    return at == known_.end() ? std::vector<contact>{} : at->second.nodes;
  }
  /// Remembers them. Where few are known, newcomers matter more than requests:
  /// from half a bucket on, answers that all name each other are 2 % of a slow
  /// line.
  void found(const record_key& key, const std::vector<contact>& nodes,
             time_point now) {
    if (nodes.size() >= bucket_size / 2
        && known_.size() < limits::closest_nodes_kept)
      known_[key] = {nodes, now};
  }
  /// This node is none any more, or does not answer: those that it is among
  /// are looked up anew.
  void forget_with(const peer_id& id) {
    forget_if([&](const entry& x) {
      return std::any_of(x.nodes.begin(), x.nodes.end(),
                         [&](auto& who) { return who.id == id; });
    });
  }

private:
  struct entry {
    std::vector<contact> nodes;
    time_point found;
  };
  template <class Predicate>
  void forget_if(Predicate which) {
    for (auto i = known_.begin(); i != known_.end();)
      i = which(i->second) ? known_.erase(i) : std::next(i);
  }

  std::map<record_key, entry> known_;
};

} // namespace potluck
