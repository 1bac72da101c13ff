/// The acting leader's half of round_agreement: asking, ruling, telling.
#include "runtime/averaging/round_agreement.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

void round_agreement::reconsider() {
  auto epoch = acting_epoch();
  if (!epoch) {
    // An auxiliary alone: nobody is left who could apply anything.
    if (!decided())
      decide(false, {});
    return;
  }
  auto n = static_cast<std::int64_t>(members_.size());
  if (*epoch % n != static_cast<std::int64_t>(self_))
    return;
  if (self_ == 0 && answered_ < 0) {
    if (decided())
      return; // All were prepared, or the means differed: no more to do.
    if (!rule_if_prepared())
      settle(0);
  } else if (!leading_) {
    settle(*epoch);
  } else if (healing_) {
    if (lost_since_heal())
      settle_again();
  } else if (!ruled_) {
    rule_if_all_stand();
  } else if (members_[holder_].lost() && (fetching_ || anybody_lacks())) {
    settle_again();
  } else {
    finish_ruling();
  }
}

bool round_agreement::rule_if_prepared() {
  if (own_.is != standing::prepared)
    return false;
  bool all = true;
  bool equal = true;
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const auto& x = members_[i];
    if (x.down || !x.trains)
      continue;
    all = all && x.said;
    equal = equal && (!x.said || same(x.said->has, own_.has));
  }
  // A reducer may have refused a part: then the means count fewer samples.
  // When two differ, all wait for the rest: then everybody has every mean, and
  // whose it was that differs can be told (means_inquiry).
  bool commit = equal && may_commit(own_.has);
  if (all)
    rule(commit, commit ? vector_mark{own_.has} : vector_mark{});
  return all;
}

void round_agreement::settle(std::int64_t epoch) {
  answered_ = epoch;
  leading_ = true;
  ruled_ = false;
  fetching_ = false;
  healing_ = false;
  spectators_wait_ = false;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto& x = members_[i];
    x.said.reset();
    x.lacking = false;
    // Whoever is connected is asked, and gets a full patience to answer.
    x.suspected = false;
    if (i != self_)
      send(x.id, round_settle{group_, static_cast<std::uint32_t>(epoch)});
  }
  rule_if_all_stand();
}

void round_agreement::settle_again() {
  settle(answered_ + static_cast<std::int64_t>(members_.size()));
}

void round_agreement::rule_if_all_stand() {
  if (!leading_ || ruled_ || healing_)
    return;
  std::vector<std::pair<bool, known>> votes{{!spectator_, own_}};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& x = members_[i];
    if (i == self_ || x.lost())
      continue;
    if (!x.said)
      return;
    votes.emplace_back(x.trains, *x.said);
  }
  bool aborted = false;
  bool equal = true;
  const vector_mark* committed = nullptr;
  const known* prepared = nullptr;
  for (const auto& [trains, x] : votes) {
    if (x.is == standing::committed && !committed)
      committed = &x.has;
    if (x.is == standing::aborted)
      aborted = true;
    if (x.is != standing::prepared || !trains
        || (prepared && x.ruled < prepared->ruled))
      continue;
    // The latest ruling counts: whoever made it may have committed.
    equal = !prepared || x.ruled > prepared->ruled
            || (equal && same(prepared->has, x.has));
    prepared = &x;
  }
  if (committed) {
    auto has = [&](const std::pair<bool, known>& x) {
      return x.first && x.second.has == *committed
             && (x.second.is == standing::committed
                 || x.second.is == standing::prepared);
    };
    if (std::any_of(votes.begin(), votes.end(), has)) {
      rule(true, vector_mark{*committed});
      return;
    }
  }
  if (!aborted && prepared && equal && may_commit(prepared->has))
    rule(true, vector_mark{prepared->has});
  else if (aborted || committed || prepared || !heal())
    rule(false, {});
}

void round_agreement::rule(bool commit, const vector_mark& mean) {
  ruled_ = true;
  healing_ = false;
  ruling_ = mean;
  auto holds = [&](const known& x) {
    return same(x.has, mean)
           && (x.is == standing::prepared || x.is == standing::committed);
  };
  bool self_lacks = commit && !decided() && !holds(own_);
  bool somebody_lacks = self_lacks;
  holder_ = self_;
  for (std::size_t i = members_.size(); i-- > 0;) {
    auto& x = members_[i];
    if (i == self_ || x.lost() || !x.trains || !x.said)
      continue;
    x.lacking = commit && !is_final(x.said->is) && !holds(*x.said);
    somebody_lacks = somebody_lacks || x.lacking;
    if (commit && !holds(own_) && holds(*x.said))
      holder_ = i;
  }
  auto told = verdict(commit, mean);
  if (somebody_lacks)
    told.holder = members_[holder_].id;
  // Auxiliaries hear of a commit only when every trainer alive has the means:
  // what they know must not die with the only one that has them.
  spectators_wait_ = somebody_lacks;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& x = members_[i];
    if (i == self_ || (x.said && is_final(x.said->is))
        || (!x.trains && spectators_wait_))
      continue;
    send(x.id, told);
  }
  if (decided())
    return;
  if (self_lacks)
    fetch(holder_, mean, own_.is == standing::prepared);
  else if (!commit || !somebody_lacks)
    decide(commit, mean);
  else
    own_.ruled = this_ruling();
}

void round_agreement::finish_ruling() {
  if (!ruled_ || fetching_ || anybody_lacks())
    return;
  // Not before the others: one that they take for lost could ask them
  // meanwhile, and must not rule anything else.
  if (!decided())
    decide(true, vector_mark{ruling_});
  if (!spectators_wait_)
    return;
  spectators_wait_ = false;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto& x = members_[i];
    if (!x.trains && !(x.said && is_final(x.said->is)))
      send(x.id, verdict(true, ruling_));
  }
}

} // namespace potluck
