/// Messages to peers that are being dialled, a bounded number each.
///
/// A part of the gateway.
#pragma once

#include <map>
#include <vector>

#include "actors/mailbox.hpp"
#include "runtime/experts/open_calls.hpp"

namespace potluck {

class parked_calls {
public:
  /// Whether it is the first to this peer, which is to be dialled.
  bool add(const call& x) {
    auto [queue, fresh] = by_peer_.try_emplace(x.to.id);
    if (queue->second.size() < most)
      queue->second.push_back({x.to.id, x.content, x.body});
    return fresh;
  }
  /// Those to this peer, in their order.
  std::vector<parcel> take(const peer_id& who) {
    auto all = by_peer_.extract(who);
    return all ? std::move(all.mapped()) : std::vector<parcel>{};
  }
  /// Nobody is there: they are dropped. @returns Answers to those of them that
  /// call experts.
  std::vector<letter> give_up(const peer_id& who) {
    std::vector<letter> result;
    for (const auto& x : take(who))
      if (auto call = std::get_if<expert_request>(&x.content))
        result.push_back({who,
                          expert_answer{call->number, expert_outcome::failed,
                                        "it cannot be reached"},
                          {}});
    return result;
  }

private:
  /// A look-up asks few things, but all open calls of experts may be for one
  /// host.
  static constexpr std::size_t most = 64 + limits::expert_calls_open;

  std::map<peer_id, std::vector<parcel>> by_peer_;
};

} // namespace potluck
