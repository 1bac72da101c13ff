#include "runtime/step/doubts.hpp"

#include <algorithm>

#include "runtime/matchmaking/leader_order.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/membership/misconduct.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

void doubts::set_aside(const peer_id& who, duration how_long, time_point now,
                       bool contradicted) {
  forget(now);
  auto& x = aside_[who];
  x.until = now + how_long;
  x.contradicted = contradicted;
}

std::chrono::seconds doubts::set_aside_longer(const peer_id& who,
                                              time_point now, bool contradicted,
                                              std::chrono::seconds first) {
  // A liar soon has nobody left to lie to; a peer that was only lied about is
  // back after a minute.
  auto again = lately(who, now);
  auto& known = before_[who];
  if (!again)
    known.times = 0;
  auto wait = first * (1 << std::min(known.times, limits::most_doublings));
  known = {known.times + 1, now};
  set_aside(who, wait, now, contradicted);
  return wait;
}

std::vector<doubts::verdict> doubts::heard(const round_over& x,
                                           time_point now) {
  std::vector<verdict> result;
  for (std::size_t i = 0; i < x.contract.members.size(); ++i) {
    const auto& id = x.contract.members[i].who.id;
    if (std::find(x.silent.begin(), x.silent.end(), id) == x.silent.end()) {
      bool took_part
          = x.committed
            && !std::binary_search(x.left_out.begin(), x.left_out.end(), i);
      if (took_part || x.watched)
        silences_.erase(id);
      continue;
    }
    silent(id, now, limits::distrust, result);
  }
  return result;
}

std::vector<doubts::verdict> doubts::unanswered(const std::vector<peer_id>& who,
                                                time_point now) {
  std::vector<verdict> result;
  for (const auto& id : who)
    silent(id, now, limits::unanswered_rest, result);
  return result;
}

void doubts::silent(const peer_id& who, time_point now,
                    std::chrono::seconds first,
                    std::vector<verdict>& verdicts) {
  // A peer that groups have formed without lately has had its second chance.
  const auto enough = lately(who, now) ? 1 : limits::silent_rounds;
  if (silences_.size() >= most_silent && silences_.count(who) == 0)
    silences_.erase(std::min_element(silences_.begin(), silences_.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.second.last < b.second.last;
                                     }));
  auto& x = silences_[who];
  x.last = now;
  if (++x.times < enough)
    return;
  silences_.erase(who);
  verdicts.emplace_back(who, set_aside_longer(who, now, false, first));
}

void doubts::forget(time_point now) {
  const auto is_old
      = [&](time_point x) { return now - x > misconduct::memory; };
  for (auto i = aside_.begin(); i != aside_.end();)
    i = is_old(i->second.until) ? aside_.erase(i) : std::next(i);
  for (auto i = before_.begin(); i != before_.end();)
    i = is_old(i->second.last) ? before_.erase(i) : std::next(i);
}

void doubts::heard(const progress_report& x, time_point now) {
  if (auto at = aside_.find(x.id); at != aside_.end()) {
    at->second.said = x;
    at->second.said_at = now;
  }
}

void doubts::left(const peer_id& who) {
  if (auto at = aside_.find(who); at != aside_.end())
    at->second.said.reset();
}

void doubts::forget_reports() {
  for (auto& [id, x] : aside_)
    x.said.reset();
}

bool doubts::forgive(const peer_id& who) {
  return aside_.erase(who) != 0;
}

bool doubts::has(const peer_id& who, time_point now) const {
  auto i = aside_.find(who);
  return i != aside_.end() && now < i->second.until;
}

std::set<peer_id> doubts::all(time_point now) const {
  std::set<peer_id> result;
  for (auto& [id, x] : aside_)
    if (now < x.until)
      result.insert(id);
  return result;
}

std::vector<const progress_report*> doubts::reports(time_point now) const {
  std::vector<const progress_report*> result;
  for (auto& [id, x] : aside_)
    if (x.said && now < x.until && now - x.said_at <= limits::report_max_age)
      result.push_back(&*x.said);
  return result;
}

std::vector<peer_id> doubts::contradicted(time_point now) const {
  std::vector<peer_id> result;
  for (auto& [id, x] : aside_)
    if (x.contradicted && now < x.until)
      result.push_back(id);
  return result;
}

bool doubts::lately(const peer_id& who, time_point now) const {
  auto i = before_.find(who);
  return i != before_.end() && now - i->second.last <= misconduct::memory;
}

} // namespace potluck
