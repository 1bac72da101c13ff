/// How this peer becomes a member of a group: leading one, or following a
/// leader's invitation.
///
/// Decides which of the two, and whom to follow; `group_leader` and
/// `group_follower` are the halves. Pure: no clock, no socket. It does not know
/// who is alive or when the target batch is reached; the owner says when to
/// `begin` and carries out the actions in the order in which they are returned.
/// Peers are authenticated by their sessions: `from` is never taken from a
/// message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/matchmaking/group_follower.hpp"
#include "runtime/matchmaking/group_leader.hpp"
#include "runtime/matchmaking/leader_order.hpp"

namespace potluck {

class matchmaker {
public:
  using actions = group_actions;

  enum class state {
    idle,     ///< Takes part in nothing.
    leading,  ///< Has invited, and collects answers and its own gradient.
    freezing, ///< Has an invitation, and waits for its own gradient.
    answered, ///< Has accepted, and waits for the leader.
    busy,     ///< In a round.
  };

  explicit matchmaker(const contract_terms& terms)
      : self_(terms.self.id), role_(terms.role), prefers_(terms.prefers),
        leader_(terms), follower_(terms) {
  }

  /// The step and state held, for comparison with invitations. An auxiliary
  /// holds no state and follows whoever invites, some before others
  /// (`contract_terms::prefers`).
  void hold(std::uint64_t step, const digest& state);

  /// Bytes per second, 0 while unknown: what the next answer or contract says.
  /// @param slow_pairs At most `max_slow_pairs` are said.
  void measure(double upload, double download,
               std::vector<slow_pair> slow_pairs = {});

  /// With whom this peer will not work: what the next answer says. A
  /// leader leaves out whom most avoid, and one of each other pair (aversions).
  void avoid(std::vector<peer_id> whom);

  /// With whom this peer has no line but through a hub, or none at all: no part
  /// of a gradient may pass between them. At most `max_members` are said.
  void without_line(std::vector<peer_id> whom);

  /// Whom to follow, when several lead.
  void follow(leader_order order) {
    order_ = std::move(order);
  }

  /// Starts to lead. @param group Fresh and random; it completes the step after
  /// the one held. Throws std::logic_error unless idle.
  actions begin(const group_id& group, std::vector<invitee> invitees,
                leading_orders orders = {});

  /// The gradient is frozen with these figures. Ignored when nobody asked.
  actions frozen(std::uint64_t samples, double loss_sum);

  actions receive(const peer_id& from, const matchmaking_message& what);
  actions lost(const peer_id& peer);
  /// The patience since `begin`, or since the invitation, has passed.
  actions expired();
  /// The round is over.
  actions finished();
  /// What was frozen is no more: its owner was replaced. A group that is still
  /// being formed goes on without this peer.
  actions forgotten();

  matchmaker::state now() const;
  /// The current group; empty when idle.
  const group_id& group() const {
    return leads() ? leader_.group() : follower_.group();
  }

private:
  struct figures {
    std::uint64_t samples;
    double loss_sum;
  };

  actions on(const peer_id& from, const group_invite& x);
  actions on(const peer_id& from, const group_answer& x);
  actions on(const peer_id& from, const group_start& x);
  actions on(const peer_id& from, const group_cancel& x);

  bool leads() const {
    return leader_.now() != group_leader::state::idle;
  }
  bool prefers(const peer_id& one, const peer_id& other) const {
    return prefers_ && !other.empty() && prefers_(one, other);
  }
  /// Why this peer can be in no such group now; empty when it can.
  std::string objection_to(const peer_id& from, const group_invite& x) const;
  group_answer own_answer() const;
  /// What was frozen is of no use when no group is left.
  actions settled(actions x);

  peer_id self_;
  potluck::role role_;
  std::function<bool(const peer_id&, const peer_id&)> prefers_;
  group_leader leader_;
  group_follower follower_;
  std::uint64_t step_ = 0; ///< Held; groups complete the next one.
  digest held_;
  leader_order order_;
  group_answer said_;          ///< What answers say, but for group and figures.
  std::optional<figures> own_; ///< Set while the gradient is frozen.
};

} // namespace potluck
