/// The follower's half of matchmaking: freezing, answering, and starting on the
/// contract that was agreed to. The transitions are one table in
/// group_follower.cpp.
///
/// Pure: no clock, no socket; the owner carries out the actions. Whom to follow
/// is for `matchmaker` to say.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "runtime/matchmaking/contract_terms.hpp"
#include "runtime/matchmaking/group_actions.hpp"

namespace potluck {

class group_follower {
public:
  enum class state {
    idle,
    freezing,  ///< Has an invitation, and waits for its own gradient.
    answered,  ///< Has accepted, and waits for the leader.
    averaging, ///< In the round that the leader has started.
  };

  explicit group_follower(contract_terms terms) : terms_(std::move(terms)) {
  }

  /// Follows, and declines whom it followed.
  /// @param own What to answer, if the gradient is frozen already.
  group_actions follow(const peer_id& leader, const group_invite& invite,
                       std::optional<group_answer> own);
  /// The gradient is frozen, and this is the answer.
  group_actions frozen(const group_answer& own);
  group_actions started(const peer_id& from, const group_contract& contract);
  group_actions cancelled(const peer_id& from, const group_cancel& x);
  group_actions lost(const peer_id& peer);
  /// The patience since the invitation has passed.
  group_actions expired();
  /// What was frozen is no more.
  group_actions forgotten();
  /// The round is over.
  group_actions finished();

  group_follower::state now() const {
    return state_;
  }
  /// Empty when idle, like the group.
  const peer_id& leader() const {
    return leader_;
  }
  const group_id& group() const {
    return invite_.group;
  }

private:
  enum class event {
    invite,
    frozen,
    start,
    cancel,
    lost,
    expired,
    forgotten,
    finished
  };

  bool hears(event x) const;
  group_actions done() {
    return std::exchange(out_, {});
  }
  void rest();
  void answer(const group_answer& own);
  void release(const std::string& reason, std::vector<peer_id> members = {});
  /// Not on that contract.
  void refuse(const group_contract& x, const peer_id& leader,
              const std::string& problem);

  contract_terms terms_;
  state state_ = state::idle;
  peer_id leader_;
  group_invite invite_;
  group_answer answer_; ///< What was answered, to compare.
  group_actions out_;
};

} // namespace potluck
