#include "runtime/averaging/round/round_course.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace potluck {

round_course::round_course(const group_contract& contract, const chunk_map& map,
                           const peer_id& self, bool keeps_majority)
    : group_{contract.group}, roll_{contract, self},
      own_{contract, map, roll_.self()}, leader_{contract, map,
                                                 keeps_majority} {
  if (map.member_count() != contract.members.size())
    throw std::invalid_argument{"A plan is for another group."};
}

bool round_course::waiting() const {
  return !own_.decided()
         || (leading_ && (own_.fetching() || leader_.waiting(roll_)));
}

// ---- means ------------------------------------------------------------------

void round_course::averaged(std::uint32_t chunk,
                            std::vector<std::uint8_t> left_out) {
  carry(own_.averaged(chunk, std::move(left_out), frozen()));
}

void round_course::asked(std::size_t by, const mean_request& x) {
  carry(own_.asked(by, x));
}

void round_course::whole_vector_here(const digest& mean) {
  const auto has = own_.whole(mean);
  if (own_.fetching())
    return end_fetch(has);
  const bool mends = own_.healing();
  own_.prepare(has, mends ? this_ruling() : 0);
  if (mends && leading_)
    carry(leader_.rule_if_mended(roll_, own_));
  else if (roll_.self() == 0 && !mends)
    carry(leader_.rule_if_prepared(roll_, own_));
  else
    carry_out(
        send_to_member{roll_.leader_of(epoch()),
                       round_prepared{group_, mean, epoch(), has.least_samples,
                                      has.most_samples}});
}

void round_course::end_fetch(const vector_mark& has) {
  // A holder that twice gave what nobody committed to is broken, or we are:
  // stay behind, and let the progress reports heal us.
  const auto what = own_.end_fetch(has);
  if (what == own_side::fetched::refetch)
    return carry(own_.fetch_again());
  const bool right = what == own_side::fetched::right;
  if (right && leading_)
    own_.prepare(has, this_ruling());
  else
    carry_out(round_leader::decide{right, right ? has : vector_mark{}});
  if (leading_)
    carry(leader_.finish(roll_, own_));
  else
    tell_where_i_stand(roll_.leader_of(answered_));
}

// ---- members ----------------------------------------------------------------

void round_course::lost(std::size_t member) {
  roll_.lose(member);
  carry(own_.do_without(member, epoch()));
  if (!leave_if_outnumbered())
    reconsider();
}

void round_course::returned(std::size_t member) {
  roll_.give_back(member);
  if (!leave_if_outnumbered())
    carry(own_.again_with(member, frozen()));
}

bool round_course::leave_if_outnumbered() {
  // A fetch ends with what somebody has committed, whoever that was.
  if (own_.decided() || own_.fetching() || !roll_.outnumbered())
    return false;
  if (leading_ && !leader_.ruled()) {
    carry(leader_.abort(roll_, own_));
    return true;
  }
  carry_out(round_leader::decide{});
  // One that is still in touch would wait for this member.
  if (const auto next = acting_epoch())
    tell_where_i_stand(roll_.leader_of(*next));
  return true;
}

void round_course::reconsider() {
  auto next = acting_epoch();
  if (!next) {
    // An auxiliary alone: nobody is left who could apply anything.
    if (!own_.decided())
      carry_out(round_leader::decide{});
    return;
  }
  if (roll_.leader_of(*next) != roll_.self())
    return;
  if (leading_)
    return carry(leader_.lost(roll_, own_));
  if (roll_.self() != 0 || answered_ >= 0)
    return settle(*next);
  // Once decided, all were prepared or the means differed: no more to do.
  if (own_.decided())
    return;
  auto ruling = leader_.rule_if_prepared(roll_, own_);
  if (ruling.empty())
    settle(0);
  else
    carry(std::move(ruling));
}

void round_course::expired() {
  carry(leader_.expired(roll_, own_));
}

void round_course::tell_where_i_stand(std::size_t to) {
  const auto& x = own_.stand();
  carry_out(send_to_member{
      to, round_standing{group_, epoch(), x.is, x.has.mean, x.has.least_samples,
                         x.has.most_samples,
                         own_.decided() ? std::vector<chunk_standing>{}
                                        : own_.ledger().standings(),
                         x.ruled}});
}

bool round_course::may_release(std::size_t member,
                               std::uint32_t its_epoch) const {
  return roll_.self() == 0 && answered_ <= 0 && its_epoch == 0
         && !own_.decided() && !(leading_ && leader_.ruled())
         && roll_.most_without(member);
}

void round_course::release(std::size_t member) {
  roll_.release(member);
  if (leading_)
    carry(leader_.lost(roll_, own_));
  else
    settle(0);
}

// ---- rulings ----------------------------------------------------------------

void round_course::prepared(std::size_t member, std::uint32_t in_epoch,
                            member_stand what) {
  if (roll_.self() == 0 && answered_ < 0 && in_epoch == 0) {
    leader_.heard(member, std::move(what));
    carry(leader_.rule_if_prepared(roll_, own_));
  } else if (leading_ && own_.healing() && in_epoch == answered_
             && leader_.has_said(member)) {
    leader_.heard(member, std::move(what));
    carry(leader_.rule_if_mended(roll_, own_));
  }
}

void round_course::answer(std::size_t leader, std::uint32_t asked) {
  // What was being fetched no longer counts by itself: from here on, only a
  // ruling of this epoch or a later one makes this member prepared.
  if (asked > answered_)
    follow(asked);
  // To a lower epoch this answers that it has been overtaken.
  tell_where_i_stand(leader);
}

void round_course::stands(std::size_t member, member_stand what) {
  carry(leader_.stands(member, std::move(what), roll_, own_));
}

void round_course::obey(std::size_t leader, const round_verdict& x) {
  follow(x.epoch);
  vector_mark mean{x.mean, x.least_samples, x.most_samples};
  if (!x.commit) {
    carry_out(round_leader::decide{});
  } else if (own_.spectator() || own_.stand().holds(mean)) {
    carry_out(round_leader::decide{true, mean});
  } else {
    auto holder = roll_.index_of(x.holder);
    if (holder == roll_.size() || holder == roll_.self())
      holder = leader;
    carry_out(round_leader::fetch{holder, mean});
  }
}

void round_course::obey(const round_heal& x) {
  follow(x.epoch);
  carry(own_.obey(x, roll_.down()));
}

void round_course::follow(std::int64_t epoch) {
  answered_ = epoch;
  leading_ = false;
  own_.stop();
}

void round_course::settle(std::int64_t next) {
  answered_ = next;
  leading_ = true;
  own_.stop();
  // Whoever is connected is asked, and has time to answer.
  for (std::size_t i = 0; i < roll_.size(); ++i)
    roll_.trust(i);
  carry(leader_.settle(epoch(), roll_, own_));
}

void round_course::settle_above(std::int64_t epoch) {
  const auto n = static_cast<std::int64_t>(roll_.size());
  const auto after = std::max(epoch, answered_);
  const auto next = after - after % n + static_cast<std::int64_t>(roll_.self());
  settle(next > after ? next : next + n);
}

// ---- small parts ------------------------------------------------------------

std::uint32_t round_course::epoch() const {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(answered_, 0));
}

void round_course::carry(round_leader::orders orders) {
  for (const auto& x : orders)
    std::visit([&](const auto& y) { carry_out(y); }, x);
}

void round_course::carry(own_side::actions wanted) {
  for (auto& x : wanted)
    std::visit([&](auto& y) { out_.emplace_back(std::move(y)); }, x);
}

void round_course::carry_out(const send_to_member& x) {
  if (!roll_[x.to].down)
    out_.emplace_back(x);
}

void round_course::carry_out(const round_leader::decide& x) {
  if (!x.commit && own_.prepared())
    odd_ones_ = leader_.odd_ones(own_.stand().has);
  own_.decide(x.commit, x.mean);
  out_.push_back(round_decision{x.commit, x.mean.mean, x.mean.least_samples});
}

void round_course::carry_out(const round_leader::fetch& x) {
  carry(own_.fetch(x.holder, x.mean, own_.prepared()));
}

void round_course::carry_out(const round_leader::hold&) {
  own_.hold(this_ruling());
}

void round_course::carry_out(const round_leader::settle_again& x) {
  settle(answered_ + static_cast<std::int64_t>(roll_.size()));
  if (!x.without)
    return;
  roll_.suspect(*x.without);
  carry(leader_.rule_if_all_stand(roll_, own_));
}

void round_course::carry_out(const round_heal& x) {
  // The leader goes on leading while it obeys its own heal.
  carry(own_.obey(x, roll_.down()));
}

round_actions round_course::take() {
  return std::exchange(out_, {});
}

void round_course::fingerprint(std::string& out) const {
  append(out, 2 * answered_ + static_cast<std::int64_t>(leading_));
  own_.fingerprint(out);
  leader_.fingerprint(out);
  roll_.fingerprint(out);
}

} // namespace potluck
