/// Members that are lost, come back or fall silent, and what round_agreement
/// does about it.
#include "runtime/averaging/round_agreement.hpp"

#include <utility>

namespace potluck {

namespace {

/// A leader acts at the first expiry and everybody else at this one, so that
/// the leader's action arrives before the others suspect it.
constexpr int expiries_before_suspicion = 2;

} // namespace

round_agreement::actions round_agreement::member_lost(const peer_id& id) {
  auto i = index_of(id);
  if (i == members_.size() || i == self_ || members_[i].down)
    return {};
  lose(i);
  return take();
}

void round_agreement::lose(std::size_t i) {
  members_[i].down = true;
  if (healing_)
    carry(ledger_.do_without(i, static_cast<std::uint32_t>(answered_)));
  if (!leave_if_outnumbered())
    reconsider();
}

round_agreement::actions
round_agreement::member_out_of_touch(const peer_id& id) {
  auto i = index_of(id);
  if (i == members_.size() || i == self_ || members_[i].down)
    return {};
  members_[i].returned = true;
  lose(i);
  return take();
}

round_agreement::actions round_agreement::member_returned(const peer_id& id) {
  auto i = index_of(id);
  if (i == members_.size() || !members_[i].down)
    return {};
  members_[i].returned = true;
  leave_if_outnumbered();
  return take();
}

bool round_agreement::yields_to(const peer_id& id) const {
  auto i = index_of(id);
  if (i >= self_ || decided() || fetching_ || answered_ >= 0)
    return false;
  const auto& x = members_[i];
  return x.trains && x.down && x.returned && members_[self_].trains;
}

bool round_agreement::leave_if_outnumbered() {
  // A fetch ends with what somebody has committed, whoever that was.
  if (decided() || fetching_)
    return false;
  std::size_t here = 0;
  std::size_t there = 0;
  bool first_is_there = false;
  for (const auto& x : members_) {
    if (!x.trains || (x.down && !x.returned))
      continue;
    first_is_there = first_is_there || (here + there == 0 && x.down);
    ++(x.down ? there : here);
  }
  // Of two halves, the one with the first trainer goes on.
  if (there == 0 || there < here || (there == here && !first_is_there))
    return false;
  if (leading_ && !ruled_)
    rule(false, {});
  else
    decide(false, {});
  return true;
}

round_agreement::actions round_agreement::expired() {
  if (self_ == 0 && answered_ < 0) {
    if (!decided())
      settle(0);
  } else if (leading_ && !ruled_ && !healing_) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (i != self_ && !members_[i].said)
        members_[i].suspected = true;
    rule_if_all_stand();
  } else if (leading_ && healing_) {
    // Whoever has fallen silent will not answer, and is left out then.
    ++stalls_;
    settle_again();
  } else if (leading_ && fetching_) {
    settle_again();
    members_[holder_].suspected = true;
    rule_if_all_stand();
  } else if (leading_ && anybody_lacks()) {
    // Somebody may have turned to another leader.
    if (holder_ != self_ || !std::exchange(asked_again_, true)) {
      settle_again();
    } else {
      for (auto& x : members_)
        x.suspected = x.suspected || x.lacking;
      finish_ruling();
    }
  } else if (!leading_ && !decided()
             && ++expiries_ < expiries_before_suspicion) {
    ask_around();
  } else if (!leading_ && !decided()) {
    expiries_ = 0;
    if (auto epoch = acting_epoch())
      leader_of(*epoch).suspected = true;
    reconsider();
    auto epoch = acting_epoch();
    if (epoch && !leading_ && !decided())
      send(leader_of(*epoch).id, where_i_stand());
  }
  return take();
}

void round_agreement::ask_around() {
  // The leader may have stalled between telling one and the next. Verdicts go
  // out in the contract's order: the first who is left knows, if anybody does,
  // and settles when it hears this. One question a round, since settles that
  // compete wait for each other's silent members again and again.
  auto leader = acting_epoch();
  if (asked_around_ || !leader)
    return;
  for (auto& x : members_) {
    if (!x.trains || x.lost() || x.id == leader_of(*leader).id
        || x.id == members_[self_].id)
      continue;
    asked_around_ = true;
    send(x.id, where_i_stand());
    return;
  }
}

round_agreement::actions round_agreement::ask(const peer_id& id) {
  auto i = index_of(id);
  if (i == members_.size() || i == self_ || decided())
    return {};
  send(id, where_i_stand());
  return take();
}

} // namespace potluck
