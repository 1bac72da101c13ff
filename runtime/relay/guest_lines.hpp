/// The connections of each peer that was welcome, until it has parted. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "runtime/relay/relaying_transport.hpp"

namespace potluck {

class guest_lines {
public:
  void add(const peer_id& who, connection_id id) {
    lines_[who].insert(id);
  }
  void closed(const peer_id& who, connection_id id) {
    if (auto x = lines_.find(who); x != lines_.end())
      x->second.erase(id);
  }
  bool has(const peer_id& who) const {
    return lines_.count(who) > 0;
  }
  const std::set<connection_id>& of(const peer_id& who) const {
    static const std::set<connection_id> none;
    auto x = lines_.find(who);
    return x == lines_.end() ? none : x->second;
  }
  /// Whether a hub is all that leads to it.
  bool only_circuits_to(const peer_id& who) const {
    const auto& all = of(who);
    return !all.empty()
           && std::all_of(all.begin(), all.end(),
                          relaying_transport::is_circuit);
  }
  /// It is none any more. @return Its connections.
  std::set<connection_id> parted(const peer_id& who) {
    auto gone = lines_.extract(who);
    return gone ? std::move(gone.mapped()) : std::set<connection_id>{};
  }

private:
  std::map<peer_id, std::set<connection_id>> lines_;
};

} // namespace potluck
