/// What a peer wants done while it becomes a member of a group.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

using matchmaking_message
    = std::variant<group_invite, group_answer, group_start, group_cancel>;

struct send_to_peer {
  peer_id to;
  matchmaking_message what;
};

/// "Stop accumulating, then call `frozen`." The gradient stays as it is until
/// `release_gradient` or the end of the round. When a release overtakes the
/// freeze, the owner drops the figures of that freeze: they are stale.
struct freeze_gradient {
  group_id group;
};

/// "No group this time: accumulate on." `reason` is a sentence's part for logs.
struct release_gradient {
  group_id group;
  std::string reason;
  /// Whose contract this peer has refused, which is somebody's mistake; empty:
  /// nobody's.
  peer_id refused = {};
  /// Most trainers that answered this leader will not be in its group.
  bool outnumbered = false;
  /// Trainers that average without this peer because of its lines: it can hand
  /// its gradient to one of them. Empty: that is not the reason.
  std::vector<peer_id> members = {};
  /// The refused contract counts far more or fewer samples than members have
  /// shown.
  bool miscounts = false;
};

/// "The group stands: average." Call `finished` when the round is over.
struct start_round {
  group_contract contract;
};

/// "This peer, if it is a member, will take no part in the round that has
/// begun": treat it as lost there.
struct member_declined {
  group_id group;
  peer_id member;
  std::string reason;
};

/// "This peer has said of itself what cannot be", or nothing though it need not
/// have waited: form groups without it for a while.
struct member_lied {
  peer_id member;
  std::string what;
};

/// "Answers are waited for no more: these trainers have not given any."
struct answers_over {
  std::vector<peer_id> unanswered;
};

/// "It has invited this peer and written no contract."
struct leader_failed {
  peer_id leader;
};

using group_action
    = std::variant<send_to_peer, freeze_gradient, release_gradient, start_round,
                   member_declined, member_lied, answers_over, leader_failed>;

/// To be carried out in this order.
using group_actions = std::vector<group_action>;

/// An answer that declines.
inline group_action decline(const peer_id& to, const group_id& group,
                            std::string reason) {
  group_answer x;
  x.group = group;
  x.reason = std::move(reason);
  return send_to_peer{to, std::move(x)};
}

} // namespace potluck
