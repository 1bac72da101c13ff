#include "runtime/matchmaking/last_trainers.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/contract_members.hpp"

namespace potluck {

void last_trainers::made(const group_contract& x,
                         const std::vector<std::uint8_t>& left_out,
                         time_point now) {
  std::set<peer_id> brought;
  for (const auto* member : trainers_behind(x, left_out))
    if (member->samples != 0)
      brought.insert(member->who.id);
  std::set<peer_id> again;
  std::set_intersection(brought.begin(), brought.end(), trainers_.begin(),
                        trainers_.end(), std::inserter(again, again.end()));
  // One of them alone must not keep it from the others.
  const bool ours = 2 * here_of(again) > here_of(trainers_);
  if (!ours && here_of(brought) <= here_of(trainers_))
    return;
  until_ = limits::followed_for;
  if (ours)
    until_ = std::clamp<duration>(limits::followed_for_steps * (now - made_at_),
                                  until_, limits::followed_for_at_most);
  trainers_ = std::move(brought);
  made_at_ = now;
}

bool last_trainers::follows(const peer_id& leader, time_point now) const {
  return trainers_.count(leader) != 0 || here_of(trainers_) < 2
         || now - made_at_ >= until_;
}

std::size_t last_trainers::here_of(const std::set<peer_id>& all) const {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](auto& id) { return here_.count(id) != 0; }));
}

} // namespace potluck
