/// Nodes that let requests pass unanswered, and how long each is not worth
/// asking: twice as long with every further one.
///
/// Others go on naming a node that has gone, and each look-up would wait for it
/// again. It is only put off: with nobody else left to ask it is asked, so that
/// a broken line of this peer's own blames nobody. Pure.
#pragma once

#include <algorithm>
#include <map>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class silent_nodes {
public:
  /// One answer may be lost: from the second failure in a row on.
  static constexpr unsigned first_put_off = 2;
  static constexpr duration shortest = std::chrono::seconds{10};
  /// As long as the longest-lived record.
  static constexpr duration longest = std::chrono::minutes{10};
  /// Nodes remembered; the one that is due first goes.
  static constexpr std::size_t most = 1024;

  void failed(const peer_id& who, time_point now) {
    if (nodes_.count(who) == 0 && nodes_.size() >= most)
      nodes_.erase(std::min_element(nodes_.begin(), nodes_.end(),
                                    [](const auto& a, const auto& b) {
                                      return a.second.until < b.second.until;
                                    }));
    auto& x = nodes_[who];
    x.failures = std::min(x.failures + 1, 16u);
    x.until = x.failures < first_put_off
                  ? now
                  : now
                        + std::min<duration>(
                            shortest * (1 << (x.failures - first_put_off)),
                            longest);
  }
  /// It lives.
  void heard(const peer_id& who) {
    nodes_.erase(who);
  }
  bool puts_off(const peer_id& who, time_point now) const {
    const auto at = nodes_.find(who);
    return at != nodes_.end() && now < at->second.until;
  }

private:
  struct silence {
    unsigned failures = 0;
    time_point until{};
  };
  std::map<peer_id, silence> nodes_;
};

} // namespace potluck
