/// The leader's half of matchmaker: inviting, collecting, starting.
#include "runtime/matchmaking/aversions.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/safeguards.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace potluck {

bool should_lead(const progress_report& self,
                 const std::vector<progress_report>& fresh,
                 const leader_order& order, std::size_t passed_over) {
  auto ready = [&](const progress_report& x) {
    return x.role == role::trainer && x.step == self.step
           && x.state == self.state
           && (x.phase == phase::accumulating || x.phase == phase::waiting
               || x.phase == phase::matchmaking);
  };
  if (!ready(self))
    return false;
  auto before = std::count_if(fresh.begin(), fresh.end(), [&](const auto& x) {
    return ready(x) && order.before(x.id, self.id);
  });
  return static_cast<std::size_t>(before) <= passed_over;
}

namespace {

/// Why an accepting answer cannot be used; empty when it can.
std::string flaw_of(const group_answer& x, role as) {
  if (!std::isfinite(x.loss_sum) || !std::isfinite(x.upload_bytes_per_second)
      || !std::isfinite(x.download_bytes_per_second))
    return "a figure is not a number";
  if (as != role::trainer && x.samples != 0)
    return "an auxiliary has no samples";
  return {};
}

} // namespace

void matchmaker::invite_all(const peer_id&, const input& what) {
  const auto& x = std::get<begun>(what);
  state_ = state::leading;
  group_ = x.group;
  leader_ = settings_.self.id;
  group_step_ = step_ + 1;
  invited_.clear();
  out_.emplace_back(freeze_gradient{group_});
  for (const auto& peer : x.invitees) {
    bool averages = peer.role == role::trainer || peer.role == role::auxiliary;
    if (!averages || peer.who.id == settings_.self.id
        || !invited_.insert({peer.who.id, invited{peer, true, {}}}).second)
      continue;
    matchmaking_message invitation = group_invite{group_, group_step_, held_};
    out_.push_back(send_to_peer{peer.who.id, std::move(invitation)});
  }
}

void matchmaker::keep_own(const peer_id&, const input& what) {
  own_ = std::get<froze>(what);
  close_if_complete();
}

void matchmaker::keep_answer(const peer_id& from, const input& what) {
  const auto& x = std::get<group_answer>(what);
  auto at = invited_.find(from);
  if (x.group != group_ || at == invited_.end())
    return;
  auto& who = at->second;
  if (!x.accepted) {
    who.pending = false;
    who.against = true;
    who.accepted.reset();
  } else if (who.pending) {
    who.pending = false;
    auto flaw = flaw_of(x, who.peer.role);
    if (flaw.empty())
      who.accepted = x;
    else
      out_.emplace_back(send_to_peer{from, group_cancel{group_, flaw}});
  }
  close_if_complete();
}

void matchmaker::count_absent(const peer_id& from, const input&) {
  auto at = invited_.find(from);
  if (at == invited_.end())
    return;
  at->second.pending = false;
  at->second.accepted.reset();
  close_if_complete();
}

void matchmaker::close_now(const peer_id&, const input&) {
  if (own_) {
    close();
    return;
  }
  cancel_invitations("the leader's gradient was not ready in time");
  release("the gradient was not ready in time");
}

void matchmaker::pass_refusal(const peer_id& from, const input& what) {
  // Whether `from` is a member at all is for the round to know.
  const auto& x = std::get<group_answer>(what);
  if (x.group == group_ && !x.accepted)
    out_.push_back(member_declined{group_, from, x.reason});
}

void matchmaker::remind(const peer_id& who) {
  auto guest = invited_.find(who);
  if (guest == invited_.end() || !guest->second.pending)
    return;
  matchmaking_message again = group_invite{group_, group_step_, held_};
  out_.push_back(send_to_peer{who, std::move(again)});
}

void matchmaker::close_if_complete() {
  bool pending = std::any_of(invited_.begin(), invited_.end(),
                             [](auto& x) { return x.second.pending; });
  if (own_ && !pending)
    close();
}

void matchmaker::drop_avoided() {
  aversions members;
  auto add = [&](const peer_id& by, const group_answer& x) {
    members[by] = {x.avoid.begin(), x.avoid.end()};
  };
  add(settings_.self.id, own_answer());
  for (const auto& [id, x] : invited_)
    if (x.accepted)
      add(id, *x.accepted);
  const auto& self = settings_.self.id;
  for (auto& id : left_out(self, members, group_)) {
    auto& guest = invited_.at(id);
    guest.against = members.at(id).count(self) != 0;
    guest.accepted.reset();
    out_.emplace_back(send_to_peer{
        id, group_cancel{group_, "not all members will work with you"}});
  }
}

void matchmaker::close() {
  if (guarded(safeguard::avoidance))
    drop_avoided();
  auto contract = make_contract();
  std::uint64_t samples = 0;
  for (const auto& x : contract.members)
    samples += std::min(x.samples, UINT64_MAX - samples);
  bool few
      = samples < (settings_.redrawn ? least_samples_ : settings_.target_batch)
        && guarded(safeguard::target_batch);
  if (few || alone() || samples == UINT64_MAX || samples == 0) {
    cancel_invitations("not enough samples");
    release("not enough samples");
    return;
  }
  for (const auto& [id, x] : invited_)
    if (x.pending)
      out_.emplace_back(send_to_peer{id, group_cancel{group_, "too late"}});
  if (outnumbered() && !insists_ && !settings_.redrawn) {
    const std::string reason = "most others are in another group";
    cancel_invitations(reason);
    out_.emplace_back(release_gradient{group_, reason, {}, true});
    rest({}, round_over{});
    return;
  }
  contract.plan = settings_.plan(contract);
  state_ = state::busy;
  for (const auto& x : contract.members)
    if (x.who.id != settings_.self.id)
      out_.emplace_back(send_to_peer{x.who.id, group_start{contract}});
  out_.emplace_back(start_round{contract});
}

bool matchmaker::alone() const {
  if (!settings_.redrawn)
    return false;
  bool invited = false;
  for (const auto& [id, x] : invited_)
    if (x.peer.role == role::trainer) {
      invited = true;
      if (x.accepted)
        return false;
    }
  return invited;
}

bool matchmaker::outnumbered() const {
  std::set<peer_id> with{settings_.self.id};
  std::set<peer_id> against{shunned_.begin(), shunned_.end()};
  for (const auto& [id, x] : invited_)
    if (x.peer.role == role::trainer) {
      if (x.accepted)
        with.insert(id);
      if (x.against)
        against.insert(id);
    }
  // Two halves that know of each other must not both go on.
  return against.size() > with.size()
         || (against.size() == with.size() && *against.begin() < *with.begin());
}

void matchmaker::cancel_invitations(const std::string& reason) {
  for (const auto& [id, x] : invited_)
    if (x.pending || x.accepted)
      out_.emplace_back(send_to_peer{id, group_cancel{group_, reason}});
  invited_.clear();
}

group_contract matchmaker::make_contract() const {
  group_contract result;
  result.group = group_;
  result.step = group_step_;
  result.gradient_values = settings_.gradient_values;
  result.patience_ms = settings_.patience_ms;
  result.computing_ms = settings_.computing_ms;
  auto add = [&](const contact& who, role as, const group_answer& x) {
    result.members.push_back({who, as, x.samples, x.loss_sum,
                              x.upload_bytes_per_second,
                              x.download_bytes_per_second, x.slow_pairs});
  };
  add(settings_.self, settings_.role, own_answer());
  for (auto as : {role::trainer, role::auxiliary})
    for (const auto& [id, x] : invited_)
      if (x.accepted && x.peer.role == as)
        add(x.peer.who, as, *x.accepted);
  if (!settings_.believe())
    for (auto& x : result.members) {
      x.upload_bytes_per_second = x.download_bytes_per_second = 0;
      x.slow_pairs.clear();
    }
  result.chunk_values = chunk_values_of(result);
  std::uint64_t samples = 0;
  for (const auto& x : result.members)
    samples += std::min(x.samples, UINT64_MAX - samples);
  result.least_samples = least_of(samples);
  return result;
}

std::uint32_t matchmaker::chunk_values_of(const group_contract& x) const {
  return settings_.cut ? settings_.cut(x) : settings_.chunk_values;
}

} // namespace potluck
