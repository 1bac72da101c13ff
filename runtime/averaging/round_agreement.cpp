#include "runtime/averaging/round_agreement.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace potluck {

namespace {

/// Epochs beyond are refused, so that a next one always fits on the wire.
constexpr std::uint32_t highest_epoch
    = std::numeric_limits<std::uint32_t>::max() / 2;

/// A leader acts at the first expiry and everybody else at this one, so that
/// the leader's action arrives before the others suspect it.
constexpr int expiries_before_suspicion = 2;

} // namespace

round_agreement::round_agreement(const group_contract& contract,
                                 const peer_id& self)
    : group_{contract.group} {
  for (const auto& x : contract.members) {
    bool trains = x.role == role::trainer;
    if (index_of(x.who.id) != members_.size())
      throw std::invalid_argument{"A contract lists a member twice."};
    if (trains && !members_.empty() && !members_.back().trains)
      throw std::invalid_argument{"A contract lists trainers first."};
    members_.push_back({x.who.id, trains, false, false, false, {}});
  }
  self_ = index_of(self);
  if (self_ == members_.size() || !members_.front().trains)
    throw std::invalid_argument{"A contract lists this member, and a trainer."};
  spectator_ = !members_[self_].trains;
  if (spectator_)
    own_.is = standing::spectator;
}

// ---- what happened ----------------------------------------------------------

round_agreement::actions round_agreement::all_means_here(const digest& mean) {
  if (frozen() || own_.is != standing::incomplete)
    return {};
  expiries_ = 0;
  own_ = {standing::prepared, mean};
  if (self_ == 0)
    rule_if_prepared();
  else
    send(members_[0].id, round_prepared{group_, mean});
  return take();
}

round_agreement::actions round_agreement::means_fetched(const digest& mean) {
  if (!fetching_)
    return {};
  expiries_ = 0;
  if (mean != wanted_ && !fetched_all_) {
    fetch(holder_, wanted_, true);
    return take();
  }
  // A holder that twice gave what nobody committed to is broken, or we are:
  // stay behind, and let the progress reports heal us.
  fetching_ = false;
  bool commit = mean == wanted_;
  decide(commit, commit ? mean : digest{});
  if (leading_)
    tell_spectators();
  else
    send(leader_of(answered_).id, where_i_stand());
  return take();
}

round_agreement::actions round_agreement::member_lost(const peer_id& id) {
  auto i = index_of(id);
  if (i == members_.size() || i == self_ || members_[i].down)
    return {};
  members_[i].down = true;
  reconsider();
  return take();
}

round_agreement::actions round_agreement::receive(const peer_id& id,
                                                  const round_message& what) {
  auto from = index_of(id);
  if (from == members_.size() || from == self_ || members_[from].down)
    return {};
  bool ours
      = std::visit([&](const auto& x) { return x.group == group_; }, what);
  if (!ours)
    return {};
  members_[from].suspected = false;
  expiries_ = 0;
  std::visit([&](const auto& x) { on(from, x); }, what);
  return take();
}

round_agreement::actions round_agreement::expired() {
  if (self_ == 0 && answered_ < 0) {
    if (!decided())
      settle(0);
  } else if (leading_ && !ruled_) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (i != self_ && !members_[i].said)
        members_[i].suspected = true;
    rule_if_all_stand();
  } else if (leading_ && fetching_) {
    settle(answered_ + static_cast<std::int64_t>(members_.size()));
    members_[holder_].suspected = true;
    rule_if_all_stand();
  } else if (leading_ && anybody_lacks()) {
    if (holder_ != self_) {
      settle(answered_ + static_cast<std::int64_t>(members_.size()));
    } else {
      for (auto& x : members_)
        x.suspected = x.suspected || x.lacking;
      tell_spectators();
    }
  } else if (!leading_ && !decided()
             && ++expiries_ >= expiries_before_suspicion) {
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

// ---- messages ---------------------------------------------------------------

void round_agreement::on(std::size_t from, const round_prepared& x) {
  if (self_ != 0 || answered_ >= 0 || decided() || !members_[from].trains)
    return;
  members_[from].said = known{standing::prepared, x.mean};
  rule_if_prepared();
}

void round_agreement::on(std::size_t from, const round_settle& x) {
  if (x.epoch > highest_epoch || x.epoch % members_.size() != from
      || !members_[from].trains || x.epoch == answered_)
    return;
  if (x.epoch > answered_) {
    answered_ = x.epoch;
    leading_ = false;
    // What was being fetched no longer counts by itself: from here on, only a
    // verdict of this epoch or a later one makes this member prepared.
    fetching_ = false;
  }
  // To a lower epoch this answers that it has been overtaken.
  send(members_[from].id, where_i_stand());
}

void round_agreement::on(std::size_t from, const round_standing& x) {
  if (x.epoch > highest_epoch)
    return;
  auto n = static_cast<std::int64_t>(members_.size());
  bool overtaken = leading_ && x.epoch > answered_;
  // Somebody has lost faith in its leader and turns to the next one. Undecided
  // members have deadlines of their own; this one would not notice.
  bool called = !leading_ && decided() && !spectator_ && !is_final(x.standing)
                && x.epoch % n != static_cast<std::int64_t>(self_);
  if (overtaken || called) {
    auto after = std::max<std::int64_t>(x.epoch, answered_);
    auto next = after - after % n + static_cast<std::int64_t>(self_);
    settle(next > after ? next : next + n);
    return;
  }
  if (!leading_ || x.epoch < answered_)
    return;
  members_[from].said = known{x.standing, x.mean};
  if (!ruled_) {
    rule_if_all_stand();
  } else if (is_final(x.standing)) {
    members_[from].lacking = false;
    tell_spectators();
  }
}

void round_agreement::on(std::size_t from, const round_verdict& x) {
  if (x.epoch > highest_epoch || x.epoch % members_.size() != from
      || x.epoch < answered_ || decided())
    return;
  obey(from, x);
}

void round_agreement::obey(std::size_t leader, const round_verdict& x) {
  answered_ = x.epoch;
  leading_ = false;
  fetching_ = false;
  if (!x.commit) {
    decide(false, {});
  } else if (spectator_
             || (own_.is == standing::prepared && own_.mean == x.mean)) {
    decide(true, x.mean);
  } else {
    bool everything = own_.is == standing::prepared;
    own_ = {};
    auto holder = index_of(x.holder);
    if (holder == members_.size() || holder == self_)
      holder = leader;
    fetch(holder, x.mean, everything);
  }
}

// ---- small parts ------------------------------------------------------------

std::size_t round_agreement::index_of(const peer_id& id) const {
  auto at = std::find_if(members_.begin(), members_.end(),
                         [&](const member& x) { return x.id == id; });
  return static_cast<std::size_t>(at - members_.begin());
}

std::optional<std::int64_t> round_agreement::acting_epoch() const {
  auto n = static_cast<std::int64_t>(members_.size());
  auto first = std::max<std::int64_t>(answered_, 0);
  for (auto epoch = first; epoch < first + n; ++epoch) {
    const auto& x = members_[static_cast<std::size_t>(epoch % n)];
    if (x.trains && !x.lost())
      return epoch;
  }
  return std::nullopt;
}

std::optional<peer_id> round_agreement::acting_leader() const {
  if (auto epoch = acting_epoch())
    return members_[static_cast<std::size_t>(*epoch) % members_.size()].id;
  return std::nullopt;
}

round_agreement::member& round_agreement::leader_of(std::int64_t epoch) {
  return members_[static_cast<std::size_t>(epoch) % members_.size()];
}

bool round_agreement::is_final(potluck::standing x) {
  return x == standing::committed || x == standing::aborted;
}

bool round_agreement::anybody_lacks() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const member& x) { return x.lacking && !x.lost(); });
}

void round_agreement::decide(bool commit, const digest& mean) {
  own_ = {commit ? standing::committed : standing::aborted, mean};
  out_.push_back(round_decision{commit, mean});
}

void round_agreement::fetch(std::size_t holder, const digest& mean,
                            bool everything) {
  own_ = {};
  holder_ = holder;
  fetching_ = true;
  fetched_all_ = everything;
  wanted_ = mean;
  out_.push_back(fetch_means{members_[holder].id, mean, everything});
}

round_standing round_agreement::where_i_stand() const {
  auto epoch = static_cast<std::uint32_t>(std::max<std::int64_t>(answered_, 0));
  return {group_, epoch, own_.is, own_.mean};
}

void round_agreement::send(const peer_id& to, round_message what) {
  if (!members_[index_of(to)].down)
    out_.push_back(send_to_member{to, std::move(what)});
}

round_agreement::actions round_agreement::take() {
  actions result;
  result.swap(out_);
  return result;
}

bool round_agreement::waiting() const {
  return !decided()
         || (leading_
             && (!ruled_ || fetching_ || spectators_wait_ || anybody_lacks()));
}

std::string round_agreement::fingerprint() const {
  std::string result;
  auto add = [&](std::int64_t x) {
    result.append(reinterpret_cast<const char*>(&x), sizeof(x));
  };
  auto add_known = [&](const known& x) {
    result.push_back(static_cast<char>(x.is));
    result.append(x.mean.bytes.begin(), x.mean.bytes.end());
  };
  add(answered_);
  add(static_cast<std::int64_t>(self_ * members_.size() + holder_));
  add(leading_ | ruled_ << 1 | spectators_wait_ << 2 | fetching_ << 3
      | fetched_all_ << 4 | expiries_ << 5);
  add_known(own_);
  result.append(ruling_.bytes.begin(), ruling_.bytes.end());
  result.append(wanted_.bytes.begin(), wanted_.bytes.end());
  for (const auto& x : members_) {
    result.push_back(static_cast<char>(
        x.down | x.suspected << 1 | x.lacking << 2 | x.said.has_value() << 3));
    if (x.said)
      add_known(*x.said);
  }
  return result;
}

} // namespace potluck
