#include "runtime/membership/reachability.hpp"

#include <algorithm>

#include "runtime/membership/limits.hpp"

namespace potluck {

void reachability::moved() {
  asked_.clear();
  began_.reset();
}

bool reachability::asks(time_point now) {
  if (began_ && now - *began_ >= validity)
    moved();
  auto waits = [&](auto& x) {
    return !x.second.over && now - x.second.asked < patience;
  };
  const auto no = votes(false);
  return !has(proof::decisive) && (!has(proof::counts) || no > 0)
         && votes(true) + no < most_votes
         && std::none_of(asked_.begin(), asked_.end(), waits);
}

std::optional<peer_id> reachability::ask(const std::vector<peer_id>& connected,
                                         std::uint64_t nonce, time_point now) {
  if (!asks(now))
    return std::nullopt;
  for (const auto& id : connected)
    if (asked_.count(id) == 0) {
      asked_[id] = {now, nonce};
      if (!began_)
        began_ = now;
      return id;
    }
  for (const auto& id : connected)
    if (auto& x = asked_.at(id); x.yes == proof::hint && x.tries < most_tries
                                 && now - x.asked >= limits::reach_pause) {
      x = {now, nonce, false, x.no, x.yes, x.tries + 1};
      return id;
    }
  count(true);
  return std::nullopt;
}

bool reachability::answered(const peer_id& from, std::uint64_t nonce,
                            bool reached, time_point now) {
  auto at = asked_.find(from);
  if (at == asked_.end() || at->second.nonce != nonce || at->second.over)
    return false;
  at->second.over = true;
  at->second.no = !reached;
  if (!began_)
    began_ = now;
  count(false);
  return true;
}

bool reachability::proven(std::uint64_t nonce, proof how, time_point now) {
  for (auto& [id, x] : asked_)
    if (x.nonce == nonce && nonce != 0) {
      vote(x, how, now);
      return true;
    }
  return false;
}

void reachability::came(const peer_id& who, proof how, time_point now) {
  if (how == proof::decisive || votes(true) + votes(false) < most_votes)
    vote(asked_.try_emplace(who, question{now}).first->second, how, now);
}

void reachability::vote(question& x, proof how, time_point now) {
  x.over = true;
  x.yes = std::max(x.yes.value_or(how), how);
  if (!began_)
    began_ = now;
  count(false);
}

void reachability::count(bool all_were_asked) {
  const auto yes = votes(true);
  const auto no = votes(false);
  if (has(proof::decisive) || (has(proof::counts) && yes >= no))
    verdict_ = verdict::yes;
  else if (yes > 0 && yes >= no)
    verdict_ = verdict::likely;
  else if (no > yes && (all_were_asked || yes + no >= most_votes))
    verdict_ = verdict::no;
}

std::size_t reachability::votes(bool reached) const {
  return static_cast<std::size_t>(
      std::count_if(asked_.begin(), asked_.end(),
                    [&](auto& x) { return x.second.votes(reached); }));
}

bool reachability::has(proof least) const {
  return std::any_of(asked_.begin(), asked_.end(), [&](auto& x) {
    return x.second.yes && *x.second.yes >= least;
  });
}

} // namespace potluck
