/// The leader's half of matchmaking: inviting, collecting, starting. The
/// transitions are one table in group_leader.cpp.
///
/// Pure: no clock, no socket; the owner carries out the actions. It does not
/// know whether to lead; `matchmaker` calls it off when it follows another.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/matchmaking/contract_terms.hpp"
#include "runtime/matchmaking/group_actions.hpp"
#include "runtime/matchmaking/invitations.hpp"

namespace potluck {

/// How the next group is to be led.
struct leading_orders {
  /// With how many samples it begins at least, where that is not the target
  /// batch.
  std::uint64_t least_samples = 1;
  std::uint32_t patience_ms = 0;  ///< How long its members wait.
  std::uint32_t computing_ms = 0; ///< Of a step; 0: unknown.
  /// Trainers at hand that are not invited, since this peer has seen them
  /// contradicted: they may lead a group of their own, and count as those that
  /// say no.
  std::vector<peer_id> shunned = {};
  /// Start even though most trainers that answered are with another leader, or
  /// will not work with this one, or it not with them. Usually not: what a
  /// minority commits is lost when it meets the others. For good it cannot
  /// wait.
  bool insist = false;
};

class group_leader {
public:
  enum class state {
    idle,
    inviting,  ///< Collects answers, and its own gradient.
    averaging, ///< In the round that it has started.
  };

  explicit group_leader(contract_terms terms) : terms_(std::move(terms)) {
  }

  /// Invites. @param invite The group, the step that it completes, and the
  /// state that it starts from.
  group_actions begin(const group_invite& invite,
                      const std::vector<invitee>& invitees,
                      leading_orders orders);
  /// Its own gradient is frozen: what this peer would answer to itself.
  group_actions frozen(const group_answer& own);
  /// It would answer otherwise by now. Ignored before it is frozen.
  void restate(const group_answer& own) {
    if (own_)
      own_ = own;
  }
  group_actions answered(const peer_id& from, const group_answer& x);
  group_actions lost(const peer_id& peer);
  /// The patience since `begin` has passed.
  group_actions expired();
  /// Invites again who leads itself, and so has lost its invitation.
  group_actions remind(const peer_id& who) const;
  /// Cancels the group. The gradient is not released: it may serve another.
  group_actions give_up(const std::string& reason);
  /// The round is over.
  group_actions finished();

  group_leader::state now() const {
    return state_;
  }
  /// Empty when idle.
  const group_id& group() const {
    return invite_.group;
  }

private:
  enum class event { begin, frozen, answer, lost, expired, give_up, finished };

  bool hears(event x) const;
  group_actions done() {
    return std::exchange(out_, {});
  }
  void rest();
  void cancel(const std::string& reason);
  void close_if_complete();
  void close();
  /// Cancels those who cannot stay with others that have accepted.
  void drop_avoided();
  /// Leaves out those with whom too few have a line, and tells them of the
  /// group without them. False when this peer is among them: it has released.
  bool line_up_members(group_contract& contract);
  /// Auxiliaries that would average nothing stay out: a round waits for all of
  /// its members when it is healed.
  void dismiss_idle(group_contract& contract);
  /// Half of those that made the last step, or more, have not answered. Their
  /// answers may be on their way, and they make the step without this peer:
  /// it asks again, but not for ever.
  bool is_unheard();
  /// In a redrawn group: trainers were invited, and none has come.
  bool alone() const {
    return terms_.redrawn && invited_.no_trainer_comes();
  }
  /// Cancels, and lets the own gradient go.
  void release(const std::string& reason, bool outnumbered = false,
               std::vector<peer_id> members = {});
  group_contract make_contract() const;
  void send(const peer_id& to, matchmaking_message what) {
    out_.emplace_back(send_to_peer{to, std::move(what)});
  }

  contract_terms terms_;
  state state_ = state::idle;
  group_invite invite_;
  leading_orders orders_;
  invitations invited_;
  std::optional<group_answer> own_; ///< Set while the gradient is frozen.
  unsigned unheard_ = 0;            ///< Groups in a row; see `is_unheard`.
  group_actions out_;
};

} // namespace potluck
