#include "runtime/averaging/round_agreement.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace potluck {

namespace {

std::size_t place_of(const peer_id& id, const group_contract& contract) {
  auto& all = contract.members;
  auto at = std::find_if(all.begin(), all.end(),
                         [&](auto& x) { return x.who.id == id; });
  if (at == all.end())
    throw std::invalid_argument{"A contract lists this member."};
  return static_cast<std::size_t>(at - all.begin());
}

std::vector<std::uint64_t> samples_of(const group_contract& contract) {
  std::vector<std::uint64_t> result;
  for (auto& x : contract.members)
    result.push_back(x.samples);
  return result;
}

} // namespace

round_agreement::round_agreement(const group_contract& contract,
                                 const chunk_map& map, const peer_id& self,
                                 bool keeps_majority)
    : group_{contract.group}, ledger_{contract, map, place_of(self, contract)},
      remedy_{map, samples_of(contract), contract.least_samples},
      least_samples_{contract.least_samples}, keeps_majority_{keeps_majority} {
  if (map.member_count() != contract.members.size())
    throw std::invalid_argument{"A plan is for another group."};
  for (const auto& x : contract.members) {
    bool trains = x.role == role::trainer;
    if (index_of(x.who.id) != members_.size())
      throw std::invalid_argument{"A contract lists a member twice."};
    if (trains && !members_.empty() && !members_.back().trains)
      throw std::invalid_argument{"A contract lists trainers first."};
    members_.push_back(
        {x.who.id, trains, false, false, false, false, {}, x.samples});
  }
  self_ = index_of(self);
  if (!members_.front().trains)
    throw std::invalid_argument{"A contract lists a trainer."};
  spectator_ = !members_[self_].trains;
  if (spectator_)
    own_.is = standing::spectator;
}

// ---- what happened ----------------------------------------------------------

round_agreement::actions
round_agreement::averaged(std::uint32_t chunk,
                          std::vector<std::uint8_t> left_out) {
  expiries_ = 0;
  ledger_.averaged(chunk, std::move(left_out));
  if (!frozen() || healing_)
    carry(ledger_.publish(chunk));
  return take();
}

bool round_agreement::wants(const peer_id& id, const chunk_mean& x) const {
  auto from = index_of(id);
  if (from == members_.size() || spectator_ || decided())
    return false;
  if (fetching_)
    return from == holder_ && x.chunk < ledger_.chunks()
           && ledger_.version(x.chunk) == 0;
  return (!frozen() || healing_) && ledger_.wants(from, x);
}

round_agreement::actions round_agreement::asked(const peer_id& id,
                                                const mean_request& x) {
  auto by = index_of(id);
  // Any version will do only where all of them together have been counted.
  if (by == members_.size() || (x.version == 0 && !holds_means()))
    return {};
  carry(ledger_.asked(by, x));
  return take();
}

bool round_agreement::digest_wanted() const {
  if (spectator_ || !ledger_.complete() || decided())
    return false;
  return fetching_
         || (own_.is == standing::incomplete && (!frozen() || healing_));
}

round_agreement::actions
round_agreement::whole_vector_here(const digest& mean) {
  if (!digest_wanted())
    return {};
  expiries_ = 0;
  vector_mark has{mean, ledger_.least_samples(), ledger_.most_samples()};
  if (fetching_) {
    means_fetched(has);
    return take();
  }
  own_ = {standing::prepared, has, {}, healing_ ? this_ruling() : 0};
  if (healing_ && leading_)
    rule_if_mended();
  else if (self_ == 0 && !healing_)
    rule_if_prepared();
  else
    send(leader_of(std::max<std::int64_t>(answered_, 0)).id,
         round_prepared{
             group_, mean,
             static_cast<std::uint32_t>(std::max<std::int64_t>(answered_, 0)),
             has.least_samples, has.most_samples});
  return take();
}

void round_agreement::means_fetched(const vector_mark& has) {
  if (!(has == wanted_) && !fetched_all_) {
    fetch(holder_, vector_mark{wanted_}, true);
    return;
  }
  // A holder that twice gave what nobody committed to is broken, or we are:
  // stay behind, and let the progress reports heal us.
  fetching_ = false;
  bool commit = has == wanted_;
  if (commit && leading_)
    own_ = {standing::prepared, has, {}, this_ruling()};
  else
    decide(commit, commit ? has : vector_mark{});
  if (leading_)
    finish_ruling();
  else
    send(leader_of(answered_).id, where_i_stand());
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
  // Others that ask around, because they wait as well, are no progress.
  if (leading_ || !std::holds_alternative<round_standing>(what))
    expiries_ = 0;
  std::visit([&](const auto& x) { on(from, x); }, what);
  return take();
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

void round_agreement::decide(bool commit, const vector_mark& mean) {
  healing_ = false;
  own_ = {commit ? standing::committed : standing::aborted, mean, {}, 0};
  out_.push_back(round_decision{commit, mean.mean, mean.least_samples});
}

void round_agreement::fetch(std::size_t holder, const vector_mark& mean,
                            bool everything) {
  own_ = {};
  holder_ = holder;
  fetching_ = true;
  fetched_all_ = everything;
  wanted_ = mean;
  if (everything)
    ledger_.drop_all();
  carry(ledger_.ask_missing(holder));
}

round_standing round_agreement::where_i_stand() const {
  auto epoch = static_cast<std::uint32_t>(std::max<std::int64_t>(answered_, 0));
  return {group_,
          epoch,
          own_.is,
          own_.has.mean,
          own_.has.least_samples,
          own_.has.most_samples,
          decided() ? std::vector<chunk_standing>{} : ledger_.standings(),
          own_.ruled};
}

round_verdict round_agreement::verdict(bool commit,
                                       const vector_mark& mean) const {
  auto epoch = static_cast<std::uint32_t>(std::max<std::int64_t>(answered_, 0));
  return {group_,           epoch, commit, mean.mean, {}, mean.least_samples,
          mean.most_samples};
}

bool round_agreement::same(const vector_mark& a, const vector_mark& b) {
  return a == b || !guarded(safeguard::equal_digests);
}

bool round_agreement::may_commit(const vector_mark& mean) const {
  return !overtaken_ && has_majority()
         && (mean.least_samples >= least_samples_
             || !guarded(safeguard::target_batch));
}

bool round_agreement::has_majority() const {
  if (!keeps_majority_ || !guarded(safeguard::group_majority))
    return true;
  std::uint64_t alive = 0;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (i == self_ || !members_[i].lost())
      alive += members_[i].samples;
  return alive >= least_samples_;
}

void round_agreement::carry(chunk_ledger::actions wanted) {
  for (auto& x : wanted)
    std::visit([&](auto& y) { out_.emplace_back(std::move(y)); }, x);
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
  auto add_mark = [&](const vector_mark& x) {
    result.append(x.mean.bytes.begin(), x.mean.bytes.end());
    add(static_cast<std::int64_t>(x.least_samples));
    add(static_cast<std::int64_t>(x.most_samples));
  };
  auto add_known = [&](const known& x) {
    result.push_back(static_cast<char>(x.is));
    add_mark(x.has);
    add(x.ruled);
    for (auto& chunk : x.chunks) {
      add(chunk.version);
      add(static_cast<std::int64_t>(chunk.samples));
    }
  };
  add(answered_);
  add(static_cast<std::int64_t>(self_ * members_.size() + holder_));
  add(leading_ | ruled_ << 1 | spectators_wait_ << 2 | fetching_ << 3
      | fetched_all_ << 4 | healing_ << 5 | asked_around_ << 6
      | asked_again_ << 7 | stalls_ << 8 | expiries_ << 10);
  result.push_back(static_cast<char>(overtaken_));
  add(static_cast<std::int64_t>(healers_));
  add_known(own_);
  add_mark(ruling_);
  add_mark(wanted_);
  ledger_.fingerprint(result);
  for (const auto& x : members_) {
    result.push_back(
        static_cast<char>(x.down | x.suspected << 1 | x.lacking << 2
                          | x.said.has_value() << 3 | x.returned << 4));
    if (x.said)
      add_known(*x.said);
  }
  return result;
}

} // namespace potluck
