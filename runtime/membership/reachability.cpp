#include "runtime/membership/reachability.hpp"

#include <algorithm>

namespace potluck {

void reachability::moved() {
  asked_.clear();
  began_.reset();
}

bool reachability::asks(time_point now) {
  if (began_ && now - *began_ >= validity)
    moved();
  auto waits = [&](auto& x) {
    return !x.second.reached && now - x.second.asked < patience;
  };
  const auto yes = votes(true);
  const auto no = votes(false);
  return (yes == 0 || no > 0) && yes + no < most_votes
         && std::none_of(asked_.begin(), asked_.end(), waits);
}

std::optional<peer_id> reachability::ask(const std::vector<peer_id>& connected,
                                         time_point now) {
  if (!asks(now))
    return std::nullopt;
  for (const auto& id : connected)
    if (asked_.count(id) == 0) {
      asked_[id] = {now, {}};
      if (!began_)
        began_ = now;
      return id;
    }
  count(true);
  return std::nullopt;
}

void reachability::answered(const peer_id& from, bool reached, time_point now) {
  if (auto at = asked_.find(from); at != asked_.end() && !at->second.reached)
    vote(from, reached, now);
}

void reachability::came(const peer_id& who, time_point now) {
  if (votes(true) + votes(false) < most_votes)
    vote(who, true, now);
}

void reachability::vote(const peer_id& who, bool reached, time_point now) {
  auto& x = asked_.try_emplace(who, question{now, {}}).first->second;
  x.reached = reached;
  if (!began_)
    began_ = now;
  count(false);
}

void reachability::count(bool all_were_asked) {
  const auto yes = votes(true);
  const auto no = votes(false);
  if (yes > 0 && yes >= no)
    reachable_ = true;
  else if (no > yes && (all_were_asked || yes + no >= most_votes))
    reachable_ = false;
}

std::size_t reachability::votes(bool reached) const {
  return static_cast<std::size_t>(
      std::count_if(asked_.begin(), asked_.end(), [&](auto& x) {
        return x.second.reached && *x.second.reached == reached;
      }));
}

} // namespace potluck
