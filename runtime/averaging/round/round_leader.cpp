#include "runtime/averaging/round/round_leader.hpp"

#include <algorithm>
#include <utility>

#include "runtime/contract_members.hpp"

namespace potluck {

namespace {

/// Heals of one leader that may come to a halt without anybody being lost: two
/// members that cannot reach each other would keep the group for ever.
constexpr int stalls_before_abort = 2;
/// Members may be back late so often in one round.
constexpr unsigned most_returns = 4;
/// Who says that it holds the means, and has not sent them for two patiences,
/// does not hold them for all that this leader can know.
constexpr unsigned fetches_in_vain = 2;

} // namespace

round_leader::round_leader(const group_contract& contract, const chunk_map& map,
                           bool keeps_majority)
    : group_{contract.group}, lines_{contract},
      remedy_{map, samples_by_member(contract), contract.least_samples, lines_},
      least_samples_{contract.least_samples}, keeps_majority_{keeps_majority},
      said_(contract.members.size()), lacking_(contract.members.size(), false),
      in_vain_(contract.members.size(), 0) {
}

round_leader::orders round_leader::settle(std::uint32_t epoch,
                                          const member_roll& roll,
                                          const own_side& own) {
  epoch_ = epoch;
  std::fill(said_.begin(), said_.end(), std::nullopt);
  std::fill(lacking_.begin(), lacking_.end(), false);
  ruled_ = false;
  spectators_wait_ = false;
  orders result;
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (i != roll.self())
      result.emplace_back(send_to_member{i, round_settle{group_, epoch}});
  auto more = rule_if_all_stand(roll, own); // Where nobody else is left.
  std::move(more.begin(), more.end(), std::back_inserter(result));
  return result;
}

// ---- from what members say to a ruling --------------------------------------

round_leader::orders round_leader::rule_if_prepared(const member_roll& roll,
                                                    const own_side& own) {
  if (!own.prepared())
    return {};
  bool equal = true;
  for (std::size_t i = 1; i < roll.size(); ++i) {
    if (roll[i].down || !roll[i].trains)
      continue;
    // When two differ, all wait for the rest: then everybody has every mean,
    // and whose it was that differs can be told (means_inquiry).
    if (!said_[i])
      return {};
    equal = equal && said_[i]->has == own.stand().has;
  }
  // A reducer may have refused a part: then the means count fewer samples.
  return equal ? rule_on(own.stand().has, roll, own)
               : rule(false, {}, roll, own);
}

round_leader::orders round_leader::rule_if_all_stand(const member_roll& roll,
                                                     const own_side& own) {
  if (ruled_ || own.healing())
    return {};
  std::vector<std::pair<bool, const member_stand*>> votes{
      {!own.spectator(), &own.stand()}};
  for (std::size_t i = 0; i < roll.size(); ++i) {
    if (i == roll.self() || is_out(i, roll))
      continue;
    if (!said_[i])
      return {};
    votes.emplace_back(roll[i].trains, &*said_[i]);
  }
  bool aborted = false;
  bool equal = true;
  const vector_mark* committed = nullptr;
  const member_stand* prepared = nullptr;
  for (const auto& [trains, x] : votes) {
    if (x->is == standing::committed && !committed)
      committed = &x->has;
    if (x->is == standing::aborted)
      aborted = true;
    if (x->is != standing::prepared || !trains
        || (prepared && x->ruled < prepared->ruled))
      continue;
    // The latest ruling counts: whoever made it may have committed.
    equal = !prepared || x->ruled > prepared->ruled
            || (equal && prepared->has == x->has);
    prepared = x;
  }
  auto has = [&](const auto& x) {
    return x.first && x.second->has == *committed
           && (x.second->is == standing::committed
               || x.second->is == standing::prepared);
  };
  if (committed && std::any_of(votes.begin(), votes.end(), has))
    return rule(true, vector_mark{*committed}, roll, own);
  if (!aborted && prepared && equal)
    return rule_on(vector_mark{prepared->has}, roll, own);
  if (aborted || committed || prepared)
    return rule(false, {}, roll, own);
  auto result = heal(roll, own);
  return result.empty() ? rule(false, {}, roll, own) : result;
}

round_leader::orders round_leader::rule_if_mended(const member_roll& roll,
                                                  const own_side& own) {
  if (!own.prepared())
    return {};
  bool all = true;
  for (std::size_t i = 0; i < roll.size(); ++i) {
    if (i == roll.self() || !roll[i].trains || !said_[i] || is_out(i, roll))
      continue;
    const bool ready = said_[i]->is == standing::prepared;
    if (ready && !(said_[i]->has == own.stand().has))
      return rule(false, {}, roll, own);
    all = all && ready;
  }
  return all ? rule_on(own.stand().has, roll, own) : orders{};
}

round_leader::orders round_leader::rule_on(const vector_mark& mean,
                                           const member_roll& roll,
                                           const own_side& own) {
  const bool may = !overtaken_ && has_majority(roll)
                   && mean.least_samples >= least_samples_;
  return rule(may, may ? mean : vector_mark{}, roll, own);
}

round_leader::orders round_leader::heal(const member_roll& roll,
                                        const own_side& own) {
  if (overtaken_ || !has_majority(roll))
    return {};
  std::vector<round_healing::report> reports;
  std::size_t healers = 0;
  for (std::size_t i = 0; i < roll.size(); ++i) {
    if (i == roll.self())
      reports.emplace_back(own.ledger().standings());
    else if (said_[i] && !is_out(i, roll))
      reports.emplace_back(said_[i]->chunks);
    else
      reports.emplace_back(std::nullopt);
    healers += reports.back().has_value();
  }
  if (healers < healers_)
    stalls_ = 0;
  healers_ = healers;
  if (stalls_ >= stalls_before_abort)
    return {};
  auto ruling = remedy_.rule(group_, epoch_, reports);
  if (!ruling)
    return {};
  orders result;
  // Also to those that take no part: who is only slow can follow.
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (i != roll.self())
      result.emplace_back(send_to_member{i, *ruling});
  result.emplace_back(std::move(*ruling));
  return result;
}

round_leader::orders round_leader::rule(bool commit, const vector_mark& mean,
                                        const member_roll& roll,
                                        const own_side& own) {
  ruled_ = has_ruled_ = true;
  ruling_ = mean;
  const bool lacks = commit && !own.decided() && !own.stand().holds(mean);
  bool somebody_lacks = lacks;
  holder_ = roll.self();
  auto counts = [&](std::size_t i) {
    return i != roll.self() && !is_out(i, roll) && roll[i].trains && said_[i];
  };
  if (commit && !own.stand().holds(mean))
    for (std::size_t i = roll.size(); i-- > 0;)
      if (counts(i) && said_[i]->holds(mean)
          && (holder_ == roll.self() || lines_.between(roll.self(), i)))
        holder_ = i;
  // Who has no line to the holder gets the step later, as a state.
  for (std::size_t i = 0; i < roll.size(); ++i) {
    if (!counts(i))
      continue;
    lacking_[i] = commit && !said_[i]->final() && !said_[i]->holds(mean)
                  && lines_.between(holder_, i);
    somebody_lacks = somebody_lacks || lacking_[i];
  }
  auto told = verdict(commit);
  if (somebody_lacks)
    told.holder = roll[holder_].id;
  spectators_wait_ = somebody_lacks;
  orders result;
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (i != roll.self() && !(said_[i] && said_[i]->final())
        && (roll[i].trains || !spectators_wait_))
      result.emplace_back(send_to_member{i, told});
  if (own.decided())
    return result;
  if (lacks)
    result.emplace_back(fetch{holder_, mean});
  else if (!commit || !somebody_lacks)
    result.emplace_back(decide{commit, mean});
  else
    result.emplace_back(hold{});
  return result;
}

// ---- what happens meanwhile -------------------------------------------------

round_leader::orders round_leader::stands(std::size_t member, member_stand what,
                                          const member_roll& roll,
                                          const own_side& own) {
  const bool final = what.final();
  if (own.healing()) {
    // Somebody whom the heal does without is back: the heal is to include it,
    // but not again and again.
    if (in_vain_[member] < fetches_in_vain
        && (final || (!said_[member] && returns_++ < most_returns)))
      return {settle_again{}};
    return {};
  }
  said_[member] = std::move(what);
  if (!ruled_)
    return rule_if_all_stand(roll, own);
  if (!final)
    return {};
  lacking_[member] = false;
  return finish(roll, own);
}

round_leader::orders round_leader::lost(const member_roll& roll,
                                        const own_side& own) {
  if (own.healing()) {
    for (std::size_t i = 0; i < roll.size(); ++i)
      if (said_[i] && roll[i].lost())
        return {settle_again{}};
    return {};
  }
  if (!ruled_)
    return rule_if_all_stand(roll, own);
  if (roll[holder_].lost() && (own.fetching() || anybody_lacks(roll)))
    return {settle_again{}};
  return finish(roll, own);
}

round_leader::orders round_leader::expired(member_roll& roll,
                                           const own_side& own) {
  if (own.healing()) {
    // Whoever has fallen silent will not answer, and is left out then.
    ++stalls_;
    return {settle_again{}};
  }
  if (!ruled_) {
    for (std::size_t i = 0; i < roll.size(); ++i)
      if (i != roll.self() && !said_[i])
        roll.suspect(i);
    return rule_if_all_stand(roll, own);
  }
  if (own.fetching()) {
    ++in_vain_[holder_];
    return {settle_again{holder_}};
  }
  if (!anybody_lacks(roll))
    return {};
  // Somebody may have turned to another leader.
  if (holder_ != roll.self() || !std::exchange(asked_again_, true))
    return {settle_again{}};
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (lacking_[i])
      roll.suspect(i);
  return finish(roll, own);
}

round_leader::orders round_leader::finish(const member_roll& roll,
                                          const own_side& own) {
  if (!ruled_ || own.fetching() || anybody_lacks(roll))
    return {};
  orders result;
  // Not before the others: one that they take for lost could ask them
  // meanwhile, and must not rule anything else.
  if (!own.decided())
    result.emplace_back(decide{true, ruling_});
  if (!std::exchange(spectators_wait_, false))
    return result;
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (!roll[i].trains && !(said_[i] && said_[i]->final()))
      result.emplace_back(send_to_member{i, verdict(true)});
  return result;
}

// ---- small parts ------------------------------------------------------------

std::vector<std::size_t> round_leader::odd_ones(const vector_mark& own) const {
  std::vector<std::size_t> result;
  std::size_t alike = 1;
  for (std::size_t i = 0; i < said_.size(); ++i) {
    if (!said_[i] || said_[i]->is != standing::prepared)
      continue;
    if (said_[i]->has == own)
      ++alike;
    else
      result.push_back(i);
  }
  return alike >= result.size() ? result : std::vector<std::size_t>{};
}

bool round_leader::is_out(std::size_t member, const member_roll& roll) const {
  return roll[member].lost() || in_vain_[member] >= fetches_in_vain;
}

bool round_leader::has_majority(const member_roll& roll) const {
  return !keeps_majority_ || roll.samples_alive() >= least_samples_;
}

bool round_leader::anybody_lacks(const member_roll& roll) const {
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (lacking_[i] && !roll[i].lost())
      return true;
  return false;
}

round_verdict round_leader::verdict(bool commit) const {
  return {group_,
          epoch_,
          commit,
          ruling_.mean,
          {},
          ruling_.least_samples,
          ruling_.most_samples};
}

void round_leader::fingerprint(std::string& out) const {
  append(out, ruled_ | spectators_wait_ << 1 | asked_again_ << 2
                  | overtaken_ << 3 | static_cast<std::int64_t>(stalls_) << 4);
  append(out,
         static_cast<std::int64_t>(healers_ << 32 | returns_ << 16 | holder_));
  append(out, ruling_);
  for (std::size_t i = 0; i < said_.size(); ++i) {
    out.push_back(static_cast<char>(lacking_[i] | said_[i].has_value() << 1
                                    | in_vain_[i] << 2));
    if (said_[i])
      append(out, *said_[i]);
  }
}

} // namespace potluck
