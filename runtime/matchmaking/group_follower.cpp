#include "runtime/matchmaking/group_follower.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/fault_points.hpp"

namespace potluck {

// What a follower hears in which state. The rest changes nothing, but that a
// contract that it does not wait for is declined.
bool group_follower::hears(event x) const {
  static constexpr std::pair<state, event> table[] = {
      {state::idle, event::invite},        // Freezes, or answers at once.
      {state::freezing, event::invite},    // Changes over.
      {state::freezing, event::frozen},    // Answers.
      {state::freezing, event::cancel},    // Releases the gradient.
      {state::freezing, event::lost},      // Likewise.
      {state::freezing, event::expired},   // Declines, and releases it.
      {state::freezing, event::forgotten}, // Likewise.
      {state::answered, event::invite},    // Changes over.
      {state::answered, event::start},     // Starts, or declines.
      {state::answered, event::cancel},    // Releases the gradient.
      {state::answered, event::lost},      // Likewise.
      {state::answered, event::expired},   // Declines, and releases it.
      {state::answered, event::forgotten}, // Likewise.
      {state::averaging, event::finished},
  };
  return std::find(std::begin(table), std::end(table),
                   std::make_pair(state_, x))
         != std::end(table);
}

group_actions group_follower::follow(const peer_id& leader,
                                     const group_invite& invite,
                                     std::optional<group_answer> own) {
  if (!hears(event::invite))
    return {};
  if (!leader_.empty() && leader != leader_)
    out_.push_back(
        decline(leader_, invite_.group, "following " + short_name(leader)));
  leader_ = leader;
  invite_ = invite;
  state_ = state::freezing;
  // Said for every group, so that the owner knows whom the gradient is frozen
  // for; one that is frozen already serves this leader as well.
  out_.emplace_back(freeze_gradient{invite_.group});
  if (own)
    answer(*own);
  return done();
}

group_actions group_follower::frozen(const group_answer& own) {
  if (hears(event::frozen))
    answer(own);
  return done();
}

void group_follower::answer(const group_answer& own) {
  state_ = state::answered;
  answer_ = own;
  answer_.group = invite_.group;
  answer_.accepted = true;
  out_.emplace_back(send_to_peer{leader_, answer_});
}

group_actions group_follower::started(const peer_id& from,
                                      const group_contract& contract) {
  if (!hears(event::start) || from != leader_
      || contract.group != invite_.group)
    return {decline(from, contract.group, "no longer waiting for this group")};
  if (auto others = terms_.trainers_without_us(contract, answer_);
      !others.empty()) {
    release("no line of its own to those that average", std::move(others));
    return done();
  }
  if (strikes(fault_point::invitation_declined)) {
    out_.push_back(decline(from, invite_.group, "stepping back"));
    release("stepping back");
    return done();
  }
  const auto problem
      = terms_.problem_with(contract, from, invite_.step, answer_);
  if (problem.empty()) {
    state_ = state::averaging;
    return {start_round{contract}};
  }
  refuse(contract, from, problem);
  return done();
}

void group_follower::refuse(const group_contract& x, const peer_id& leader,
                            const std::string& problem) {
  out_.push_back(decline(leader, invite_.group, problem));
  const bool miscounts = !terms_.miscounted(x, answer_).empty();
  out_.emplace_back(
      release_gradient{invite_.group, problem, leader, false, {}, miscounts});
  rest();
  // What it writes of others may be their lie.
  if (!x.members.empty() && x.members.front().who.id == leader)
    if (auto lie
        = terms_.too_many(x.members.front().samples, terms_.slack_of_members);
        !lie.empty())
      out_.emplace_back(member_lied{leader, std::move(lie)});
}

group_actions group_follower::cancelled(const peer_id& from,
                                        const group_cancel& x) {
  if (hears(event::cancel) && from == leader_ && x.group == invite_.group)
    release("the leader cancelled: " + x.reason);
  return done();
}

group_actions group_follower::lost(const peer_id& peer) {
  if (hears(event::lost) && peer == leader_)
    release("the leader is gone");
  return done();
}

group_actions group_follower::expired() {
  if (!hears(event::expired))
    return {};
  const auto leader = leader_;
  const bool kept_waiting = state_ == state::answered;
  out_.push_back(decline(leader, invite_.group, "waited too long"));
  release("the leader did not start in time");
  // An honest one writes its contract or cancels much earlier.
  if (kept_waiting)
    out_.emplace_back(leader_failed{leader});
  return done();
}

group_actions group_follower::forgotten() {
  if (!hears(event::forgotten))
    return {};
  const std::string reason = "its gradient is gone";
  out_.push_back(decline(leader_, invite_.group, reason));
  release(reason);
  return done();
}

group_actions group_follower::finished() {
  if (hears(event::finished))
    rest();
  return {};
}

void group_follower::rest() {
  state_ = state::idle;
  leader_ = {};
  invite_ = {};
}

void group_follower::release(const std::string& reason,
                             std::vector<peer_id> members) {
  out_.emplace_back(
      release_gradient{invite_.group, reason, {}, false, std::move(members)});
  rest();
}

} // namespace potluck
