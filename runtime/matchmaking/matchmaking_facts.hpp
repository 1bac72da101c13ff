/// What matchmaking needs to know of its peer.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/matchmaking/leader_order.hpp"

namespace potluck {

class past_steps;

/// To judge invitations, and to invite.
struct matchmaking_facts {
  std::uint64_t step = 0;
  digest state;
  std::uint64_t gradient_values = 0;
  bool open = false;         ///< Holds a state and is in no round.
  std::set<peer_id> doubted; ///< Whose groups are not joined.
  /// Heard of, and not connected.
  std::set<peer_id> out_of_reach;
  leader_order leaders;
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  std::vector<slow_pair> slow_pairs;
  duration gathering{0}; ///< What sponsors may take longer to freeze.
  /// That one member may bring (`speed_book`).
  std::uint64_t believable_samples = UINT64_MAX;
  /// What the members of this peer's last steps brought to them.
  std::shared_ptr<const past_steps> past;
  duration computing{0}; ///< Since the step began.
};

} // namespace potluck
