#include "runtime/state/serving_budget.hpp"

#include <algorithm>
#include <utility>

#include "runtime/state/limits.hpp"
#include "runtime/strangers/home_of.hpp"

namespace potluck {

serving_budget::serving_budget(bounds most) : most_(most) {
}

bool serving_budget::admit(const peer_id& joiner, time_point now,
                           std::size_t places) {
  auto known = joiners_.find(joiner);
  if (known == joiners_.end()) {
    auto large = static_cast<std::size_t>(
        std::count_if(joiners_.begin(), joiners_.end(),
                      [&](auto& x) { return takes_place(x.second); }));
    auto small = joiners() < places;
    if (!small && large >= most_.joiners)
      return false;
    known = joiners_.emplace(joiner, served{}).first;
    known->second.small = small;
    known->second.since = known->second.moved = now;
  }
  known->second.heard = now;
  return true;
}

void serving_budget::grant(const peer_id& joiner, std::uint64_t step,
                           std::uint64_t bytes) {
  if (granted_.size() >= limits::grants_known && granted_.count(joiner) == 0)
    granted_.erase(std::min_element(
        granted_.begin(), granted_.end(),
        [](auto& a, auto& b) { return a.second.step < b.second.step; }));
  auto& x = granted_[joiner];
  if (step <= x.step)
    return;
  const auto more = bytes + bytes / 4;
  x.step = step;
  x.bytes = std::min(x.bytes, (limits::means_granted - 1) * more) + more;
}

void serving_budget::back_to(std::uint64_t step) {
  for (auto& [id, x] : granted_)
    x.step = std::min(x.step, step);
}

bool serving_budget::is_paced(const peer_id& joiner, const served& x) const {
  if (most_.bytes_per_second <= 0)
    return false;
  const auto& first = x.queue.front();
  const auto granted = granted_.find(joiner);
  return !first.request.mean || granted == granted_.end()
         || granted->second.bytes < first.bytes;
}

bool serving_budget::listens(const peer_id& joiner, time_point now) {
  auto known = joiners_.find(joiner);
  if (known == joiners_.end()) {
    if (listeners_ >= most_.listeners)
      return false;
    known = joiners_.emplace(joiner, served{}).first;
    known->second.listens = true;
    ++listeners_;
  }
  known->second.heard = now;
  return true;
}

void serving_budget::forget(const peer_id& joiner) {
  auto known = joiners_.find(joiner);
  if (known == joiners_.end())
    return;
  listeners_ -= known->second.listens;
  waiting_ -= known->second.queue.size();
  joiners_.erase(known);
}

void serving_budget::begins_anew(const peer_id& joiner) {
  auto known = joiners_.find(joiner);
  if (known == joiners_.end())
    return;
  auto& x = known->second;
  waiting_ -= x.queue.size();
  x.queue.clear();
  x.sent = x.arrived = x.queued = 0;
}

bool serving_budget::is_idle(const served& x, time_point now) {
  return now - x.moved >= limits::place_patience;
}

bool serving_budget::is_old(const served& x, time_point now) {
  return now - x.since >= limits::place_life;
}

bool serving_budget::lingers(const peer_id& joiner, time_point now) const {
  const auto known = joiners_.find(joiner);
  return known != joiners_.end()
         && (known->second.listens || is_idle(known->second, now));
}

std::optional<peer_id> serving_budget::gives_way(const peer_id& to,
                                                 time_point now) const {
  std::map<std::string, std::size_t> homes;
  for (const auto& [id, x] : joiners_)
    if (takes_place(x))
      ++homes[home(id)];
  const auto mine = homes.count(home(to)) ? homes.at(home(to)) : 0;
  std::optional<peer_id> idlest, of_fullest, longest;
  std::size_t fullest = 0;
  for (const auto& [id, x] : joiners_) {
    if (!takes_place(x))
      continue;
    if (is_idle(x, now) && (!idlest || x.moved < joiners_.at(*idlest).moved))
      idlest = id;
    const auto size = homes.at(home(id));
    if (size >= mine + 2
        && (size > fullest
            || (size == fullest && x.since < joiners_.at(*of_fullest).since))) {
      fullest = size;
      of_fullest = id;
    }
    if (is_old(x, now) && (!longest || x.since < joiners_.at(*longest).since))
      longest = id;
  }
  return idlest ? idlest : of_fullest ? of_fullest : longest;
}

/// A peer whose home is not known is one of its own.
std::string serving_budget::home(const peer_id& x) const {
  const auto at = homes_.find(x);
  return at == homes_.end()
             ? "peer " + std::string{x.bytes.begin(), x.bytes.end()}
             : at->second;
}

void serving_budget::reach(const peer_id& peer, bool relayed,
                           const std::string& host) {
  relayed ? void(relayed_.insert(peer)) : void(relayed_.erase(peer));
  if (!host.empty())
    homes_[peer] = home_of(host);
}

void serving_budget::parted(const peer_id& peer) {
  relayed_.erase(peer);
  homes_.erase(peer);
}

std::vector<peer_id> serving_budget::expire(time_point now) {
  std::vector<peer_id> result;
  if (now <= next_expiry_)
    return result;
  // Who comes later, or writes again, is silent later.
  next_expiry_ = now + most_.silence;
  for (auto& [id, x] : joiners_) {
    auto expires = x.heard + most_.silence;
    if (now > expires)
      result.push_back(id);
    else
      next_expiry_ = std::min(next_expiry_, expires);
  }
  for (auto& id : result)
    forget(id);
  return result;
}

bool serving_budget::ask(const peer_id& joiner, const piece_request& request,
                         std::uint64_t bytes, time_point now) {
  auto known = joiners_.find(joiner);
  if (known == joiners_.end() || known->second.listens)
    return false;
  auto& x = known->second;
  x.heard = now;
  const auto before = x.arrived;
  x.arrived = std::min(x.sent, std::max(x.arrived, request.arrived));
  if (x.arrived > before || !std::exchange(x.asked, true))
    x.moved = now;
  // One piece is always allowed, however large pieces are.
  if (!x.queue.empty()
      && x.sent - x.arrived + x.queued + bytes > most_.bytes_in_flight)
    return false;
  x.queued += bytes;
  x.queue.push_back({request, bytes});
  ++waiting_;
  return true;
}

bool serving_budget::may_send(const peer_id& joiner, const served& x) const {
  if (x.queue.empty())
    return false;
  auto flying = x.sent - x.arrived;
  auto most = relayed_.count(joiner) ? limits::relayed_bytes_in_flight
                                     : most_.bytes_in_flight;
  return flying == 0 || flying + x.queue.front().bytes <= most;
}

std::optional<serving_budget::turn> serving_budget::next(time_point now) {
  if (waiting_ == 0)
    return std::nullopt;
  auto at = joiners_.upper_bound(last_);
  for (std::size_t i = 0; i < joiners_.size(); ++i, ++at) {
    if (at == joiners_.end())
      at = joiners_.begin();
    auto& x = at->second;
    if (!may_send(at->first, x))
      continue;
    const bool paced = is_paced(at->first, x);
    if (paced && now < free_at_)
      continue;
    auto first = x.queue.front();
    x.queue.pop_front();
    --waiting_;
    x.queued -= first.bytes;
    x.sent += first.bytes;
    last_ = at->first;
    if (!paced && most_.bytes_per_second > 0)
      granted_.at(at->first).bytes -= first.bytes;
    if (paced) {
      std::chrono::duration<double> takes{static_cast<double>(first.bytes)
                                          / most_.bytes_per_second};
      free_at_ = std::max(free_at_, now)
                 + std::chrono::duration_cast<duration>(takes);
    }
    return turn{at->first, first.request};
  }
  return std::nullopt;
}

std::optional<time_point> serving_budget::wake() const {
  if (waiting_ == 0)
    return std::nullopt;
  for (auto& [id, x] : joiners_)
    if (may_send(id, x) && is_paced(id, x))
      return free_at_;
  return std::nullopt;
}

} // namespace potluck
