#include "runtime/admission/vetting_queue.hpp"

#include <algorithm>
#include <utility>

#include "runtime/strangers/fullest_home.hpp"

namespace potluck {

bool vetting_queue::add(authority_desk::claim x, const std::string& home) {
  if (who_.count(x.from) != 0)
    return false;
  const auto known = homes_.find(home);
  const auto waiting = known == homes_.end() ? 0 : known->second.size();
  if (waiting >= most_.of_a_home)
    return false;
  if (size() >= most_.all) {
    const auto fullest = home_that_gives_way(
        homes_, waiting, [](const queue& claims) { return claims.size(); });
    if (fullest == homes_.end())
      return false;
    who_.erase(fullest->second.back().from);
    fullest->second.pop_back(); // It has had two at least.
  }
  who_.insert(x.from);
  homes_[home].push_back(std::move(x));
  return true;
}

void vetting_queue::left(const peer_id& who) {
  if (who_.erase(who) == 0)
    return;
  for (auto home = homes_.begin(); home != homes_.end(); ++home) {
    auto& claims = home->second;
    const auto its = std::find_if(claims.begin(), claims.end(),
                                  [&](auto& x) { return x.from == who; });
    if (its == claims.end())
      continue;
    claims.erase(its);
    if (claims.empty())
      homes_.erase(home);
    return;
  }
}

std::optional<authority_desk::claim> vetting_queue::next() {
  if (homes_.empty())
    return std::nullopt;
  auto turn = homes_.upper_bound(last_);
  if (turn == homes_.end())
    turn = homes_.begin();
  last_ = turn->first;
  auto result = std::move(turn->second.front());
  turn->second.pop_front();
  if (turn->second.empty())
    homes_.erase(turn);
  who_.erase(result.from);
  return result;
}

} // namespace potluck
