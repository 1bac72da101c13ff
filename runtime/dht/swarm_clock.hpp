/// How far this machine's clock is from those of other peers: one that is
/// minutes or hours off must not make its peer's words old.
///
/// Those that this peer has chosen to call say it. Strangers that call have a
/// say only where it has called nobody, as a bootstrap, since they could make
/// its words old: within an hour, one voice of each network, and of five
/// networks at least. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/dialable.hpp"
#include "runtime/median.hpp"

namespace potluck {

class swarm_clock {
public:
  /// Peers that are asked, of either kind; more say no more.
  static constexpr std::size_t most = 31;
  /// Further off is no clock, or no word of a stranger's.
  static constexpr std::int64_t farthest_ms = 36 * 3600 * 1000;
  static constexpr std::int64_t strangers_farthest_ms = 3600 * 1000;
  static constexpr std::size_t fewest_strangers = 5;

  /// The clock of a peer is ahead by so much.
  /// @param was_dialled By this peer.
  void says(const contact& who, std::int64_t ahead_ms, bool was_dialled) {
    if (was_dialled)
      strangers_.erase(who.id);
    const auto farthest = was_dialled ? farthest_ms : strangers_farthest_ms;
    auto& all = was_dialled ? chosen_ : strangers_;
    auto network = network_of(who.where.host);
    if (ahead_ms < -farthest || ahead_ms > farthest
        || (all.count(who.id) == 0
            && (all.size() >= most || (!was_dialled && has_voice(network)))))
      return;
    all[who.id] = {ahead_ms, std::move(network)};
  }
  void left(const peer_id& who) {
    chosen_.erase(who);
    strangers_.erase(who);
  }

  /// The median of what they say; zero while nobody does.
  std::int64_t ahead_ms() const {
    const auto& voices = chosen_.empty() ? strangers_ : chosen_;
    if (voices.empty() || (chosen_.empty() && voices.size() < fewest_strangers))
      return 0;
    std::vector<std::int64_t> all;
    for (const auto& [id, x] : voices)
      all.push_back(x.ahead_ms);
    return lower_median(std::move(all));
  }

private:
  struct voice {
    std::int64_t ahead_ms = 0;
    std::string network;
  };
  bool has_voice(const std::string& network) const {
    return std::any_of(
        strangers_.begin(), strangers_.end(),
        [&](const auto& x) { return x.second.network == network; });
  }

  std::map<peer_id, voice> chosen_;
  std::map<peer_id, voice> strangers_;
};

} // namespace potluck
