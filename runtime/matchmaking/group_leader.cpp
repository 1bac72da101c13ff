#include "runtime/matchmaking/group_leader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/direct_lines.hpp"
#include "runtime/matchmaking/aversions.hpp"
#include "runtime/planning/line_up.hpp"

namespace potluck {

// What a leader hears in which state. The rest changes nothing.
bool group_leader::hears(event x) const {
  static constexpr std::pair<state, event> table[] = {
      {state::idle, event::begin},       // Invites.
      {state::inviting, event::frozen},  // Starts, if all answers are here.
      {state::inviting, event::answer},  // Likewise.
      {state::inviting, event::lost},    // Likewise.
      {state::inviting, event::expired}, // Starts with those who are here.
      {state::inviting, event::give_up}, // Cancels.
      {state::averaging, event::finished},
  };
  return std::find(std::begin(table), std::end(table),
                   std::make_pair(state_, x))
         != std::end(table);
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

/// Groups in a row that half of those that made the last step do not answer in
/// time: then the leader goes on without them.
constexpr unsigned most_unheard = 2;

constexpr char lineless[] = "no line of its own to those that average";

/// Keeps what is said of members: of lines to all other trainers, which are
/// many where a hub is in the middle, one word.
void shorten(std::vector<peer_id>& relayed, const group_member& of,
             const group_contract& in) {
  std::vector<peer_id> trainers;
  std::vector<peer_id> rest;
  bool all = true;
  for (const auto& x : in.members) {
    const auto& id = x.who.id;
    if (id == of.who.id)
      continue;
    const bool named
        = std::find(relayed.begin(), relayed.end(), id) != relayed.end();
    if (x.role == role::trainer)
      all = all && named;
    if (named)
      (x.role == role::trainer ? trainers : rest).push_back(id);
  }
  if (all && trainers.size() > 1)
    trainers = {of.who.id};
  rest.insert(rest.end(), trainers.begin(), trainers.end());
  relayed = std::move(rest);
}

/// Of a line that is not known, what counts at most does.
void limit_line(group_member& x, double most) {
  if (most <= 0)
    return;
  for (auto* speed : {&x.upload_bytes_per_second, &x.download_bytes_per_second})
    *speed = *speed > 0 ? std::min(*speed, most) : most;
}

} // namespace

group_actions group_leader::begin(const group_invite& invite,
                                  const std::vector<invitee>& invitees,
                                  leading_orders orders) {
  if (!hears(event::begin))
    return {};
  state_ = state::inviting;
  invite_ = invite;
  orders_ = std::move(orders);
  out_.emplace_back(freeze_gradient{invite_.group});
  for (const auto& peer : invitees) {
    bool averages = peer.role == role::trainer || peer.role == role::auxiliary;
    if (averages && peer.who.id != terms_.self.id && invited_.add(peer))
      send(peer.who.id, invite_);
  }
  return done();
}

group_actions group_leader::remind(const peer_id& who) const {
  if (!invited_.awaits(who))
    return {};
  return {send_to_peer{who, invite_}};
}

group_actions group_leader::frozen(const group_answer& own) {
  if (!hears(event::frozen))
    return {};
  own_ = own;
  close_if_complete();
  return done();
}

group_actions group_leader::answered(const peer_id& from,
                                     const group_answer& x) {
  const auto* guest = invited_.find(from);
  if (!hears(event::answer) || x.group != invite_.group || guest == nullptr)
    return {};
  if (!x.accepted) {
    invited_.refuses(from);
  } else if (invited_.awaits(from)) {
    auto flaw = flaw_of(x, guest->role);
    if (auto lie = terms_.too_many(x.samples); flaw.empty() && !lie.empty()) {
      out_.emplace_back(member_lied{from, lie});
      flaw = std::move(lie);
    }
    if (flaw.empty()) {
      invited_.accepts(from, x);
    } else {
      invited_.drop(from);
      send(from, group_cancel{invite_.group, flaw});
    }
  }
  close_if_complete();
  return done();
}

group_actions group_leader::lost(const peer_id& peer) {
  if (!hears(event::lost) || invited_.find(peer) == nullptr)
    return {};
  invited_.drop(peer);
  close_if_complete();
  return done();
}

group_actions group_leader::expired() {
  if (!hears(event::expired))
    return {};
  if (own_)
    close();
  else
    release("the leader's gradient was not ready in time");
  return done();
}

group_actions group_leader::give_up(const std::string& reason) {
  if (hears(event::give_up))
    cancel(reason);
  return done();
}

group_actions group_leader::finished() {
  if (hears(event::finished))
    rest();
  return {};
}

void group_leader::cancel(const std::string& reason) {
  for (const auto& id : invited_.hopeful())
    send(id, group_cancel{invite_.group, reason});
  rest();
}

void group_leader::rest() {
  state_ = state::idle;
  invite_ = {};
  invited_.clear();
  own_.reset();
}

void group_leader::release(const std::string& reason, bool outnumbered,
                           std::vector<peer_id> members) {
  const auto group = invite_.group;
  cancel(reason);
  out_.emplace_back(
      release_gradient{group, reason, {}, outnumbered, std::move(members)});
}

void group_leader::close_if_complete() {
  if (own_ && invited_.complete())
    close();
}

void group_leader::drop_avoided() {
  const auto& self = terms_.self.id;
  aversions members;
  auto add = [&](const peer_id& by, const group_answer& x) {
    members[by] = {x.avoid.begin(), x.avoid.end()};
  };
  add(self, *own_);
  for (const auto& x : invited_.accepted())
    add(x.peer.who.id, x.answer);
  for (auto& id : left_out(self, members, invite_.group)) {
    if (members.at(id).count(self) != 0)
      invited_.refuses(id);
    else
      invited_.drop(id);
    send(id, group_cancel{invite_.group, "not all members will work with you"});
  }
}

bool group_leader::line_up_members(group_contract& contract) {
  if (direct_lines{contract}.complete())
    return true;
  const auto stays = best_line_up(contract, !terms_.redrawn).stays;
  // With what its members said of those that are left out.
  auto told = contract;
  told.members.clear();
  std::vector<peer_id> out;
  std::vector<peer_id> trainers;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const auto& x = contract.members[i];
    if (!stays[i]) {
      out.push_back(x.who.id);
      continue;
    }
    told.members.push_back(x);
    if (x.role == role::trainer)
      trainers.push_back(x.who.id);
  }
  // Where no two can average together, none has to make way for others: whoever
  // could average for all is missing for now.
  const bool group = told.members.size() > 1;
  if (!stays.front() || !group) {
    release(lineless, false,
            group ? std::move(trainers) : std::vector<peer_id>{});
    return false;
  }
  for (const auto& id : out)
    invited_.drop(id);
  contract = make_contract();
  const auto samples = samples_of(contract);
  told.plan = terms_.plan(contract);
  told.least_samples = std::min(contract.least_samples, samples);
  for (const auto& id : out)
    if (samples > 0)
      send(id, group_start{told});
    else
      send(id, group_cancel{invite_.group, lineless});
  return true;
}

void group_leader::close() {
  answers_over answers;
  for (const auto& x : invited_.awaited())
    if (x.role == role::trainer)
      answers.unanswered.push_back(x.who.id);
  if (!terms_.redrawn)
    out_.emplace_back(std::move(answers));
  if (is_unheard()) {
    release("most that made the last step have not answered");
    return;
  }
  drop_avoided();
  auto contract = make_contract();
  if (!line_up_members(contract))
    return;
  const auto samples = samples_of(contract);
  const auto least
      = terms_.redrawn ? orders_.least_samples : terms_.target_batch;
  if (samples < least || alone() || samples == UINT64_MAX || samples == 0) {
    release("not enough samples");
    return;
  }
  for (const auto& x : invited_.awaited()) {
    const auto& id = x.who.id;
    invited_.drop(id);
    send(id, group_cancel{invite_.group, "too late"});
    // It computes nothing that it could have had to end before.
    if (x.role == role::auxiliary)
      out_.emplace_back(member_lied{id, "it did not answer an invitation"});
  }
  // Two halves that know of each other must not both go on.
  if (invited_.outnumber(terms_.self.id, orders_.shunned) && !orders_.insist
      && !terms_.redrawn) {
    release("most others are in another group", true);
    return;
  }
  dismiss_idle(contract);
  contract.plan = terms_.plan(contract);
  state_ = state::averaging;
  for (const auto& x : contract.members)
    if (x.who.id != terms_.self.id)
      send(x.who.id, group_start{contract});
  out_.emplace_back(start_round{contract});
}

void group_leader::dismiss_idle(group_contract& contract) {
  const auto idle
      = terms_.idle ? terms_.idle(contract) : std::vector<std::size_t>{};
  for (auto i : idle) {
    const auto& id = contract.members[i].who.id;
    invited_.drop(id);
    send(id, group_cancel{invite_.group, "the plan has nothing for it"});
  }
  if (!idle.empty())
    contract = make_contract();
}

bool group_leader::is_unheard() {
  if (!terms_.redrawn && invited_.most_makers_silent())
    return ++unheard_ <= most_unheard;
  unheard_ = 0;
  return false;
}

group_contract group_leader::make_contract() const {
  group_contract result;
  result.group = invite_.group;
  result.step = invite_.step;
  result.gradient_values = terms_.gradient_values;
  result.patience_ms = orders_.patience_ms;
  result.computing_ms = orders_.computing_ms;
  auto add = [&](const contact& who, role as, const group_answer& x) {
    result.members.push_back(
        {who, as, x.samples, x.loss_sum, x.upload_bytes_per_second,
         x.download_bytes_per_second, x.slow_pairs, x.relayed});
  };
  add(terms_.self, terms_.role, *own_);
  for (auto as : {role::trainer, role::auxiliary})
    for (const auto& x : invited_.accepted())
      if (x.peer.role == as) {
        add(x.peer.who, as, x.answer);
        limit_line(result.members.back(), x.peer.most_line);
      }
  for (auto& x : result.members)
    shorten(x.relayed, x, result);
  if (!terms_.believe())
    for (auto& x : result.members) {
      x.upload_bytes_per_second = x.download_bytes_per_second = 0;
      x.slow_pairs.clear();
    }
  terms_.count(result);
  if (terms_.bend)
    terms_.bend(result);
  result.chunk_values = terms_.chunk_values_of(result);
  result.least_samples = terms_.least_of(samples_of(result));
  return result;
}

} // namespace potluck
