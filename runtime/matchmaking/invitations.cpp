#include "runtime/matchmaking/invitations.hpp"

#include <algorithm>
#include <set>

namespace potluck {

bool invitations::add(const invitee& x) {
  return all_.insert({x.who.id, invited{x}}).second;
}

const invitee* invitations::find(const peer_id& who) const {
  const auto at = all_.find(who);
  return at == all_.end() ? nullptr : &at->second.peer;
}

void invitations::accepts(const peer_id& who, const group_answer& x) {
  auto& guest = all_.at(who);
  guest.pending = false;
  guest.accepted = x;
}

void invitations::refuses(const peer_id& who) {
  drop(who);
  all_.at(who).against = true;
}

void invitations::drop(const peer_id& who) {
  auto& guest = all_.at(who);
  guest.pending = false;
  guest.accepted.reset();
}

bool invitations::awaits(const peer_id& who) const {
  const auto at = all_.find(who);
  return at != all_.end() && at->second.pending;
}

bool invitations::complete() const {
  return std::none_of(all_.begin(), all_.end(),
                      [](const auto& x) { return x.second.pending; });
}

std::vector<invitee> invitations::awaited() const {
  std::vector<invitee> result;
  for (const auto& [id, x] : all_)
    if (x.pending)
      result.push_back(x.peer);
  return result;
}

std::vector<invitations::acceptance> invitations::accepted() const {
  std::vector<acceptance> result;
  for (const auto& [id, x] : all_)
    if (x.accepted)
      result.push_back({x.peer, *x.accepted});
  return result;
}

std::vector<peer_id> invitations::hopeful() const {
  std::vector<peer_id> result;
  for (const auto& [id, x] : all_)
    if (x.pending || x.accepted)
      result.push_back(id);
  return result;
}

bool invitations::most_makers_silent() const {
  std::size_t makers = 1, pending = 0; // The leader is one.
  for (const auto& [id, x] : all_) {
    const bool made = x.peer.role == role::trainer && x.peer.made_step;
    makers += made;
    pending += made && x.pending;
  }
  return 2 * pending >= makers;
}

bool invitations::no_trainer_comes() const {
  bool any = false;
  for (const auto& [id, x] : all_)
    if (x.peer.role == role::trainer) {
      any = true;
      if (x.accepted)
        return false;
    }
  return any;
}

bool invitations::outnumber(const peer_id& leader,
                            const std::vector<peer_id>& shunned) const {
  std::set<peer_id> with{leader};
  std::set<peer_id> against{shunned.begin(), shunned.end()};
  for (const auto& [id, x] : all_)
    if (x.peer.role == role::trainer) {
      if (x.accepted)
        with.insert(id);
      if (x.against)
        against.insert(id);
    }
  return against.size() > with.size()
         || (against.size() == with.size() && *against.begin() < *with.begin());
}

} // namespace potluck
