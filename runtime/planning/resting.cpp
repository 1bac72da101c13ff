#include "runtime/planning/resting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/planning/who_rests.hpp"

namespace potluck {

namespace {

double uplinks_of_auxiliaries(const group_contract& x) {
  double result = 0;
  for (const auto& m : x.members)
    if (m.role == role::auxiliary)
      result += m.upload_bytes_per_second;
  return result;
}

} // namespace

bool resting::stands(const group_contract& x) {
  const auto& what = held_->what;
  if (x.step <= what.step || x.step >= what.until)
    return false;
  bool same
      = uplinks_of_auxiliaries(x) <= limits::other_line * held_->auxiliaries;
  auto missing = held_->computing;
  for (const auto& m : x.members) {
    missing.erase(m.who.id);
    const auto line = held_->uplinks.find(m.who.id);
    if (line == held_->uplinks.end()) {
      same = same && (m.samples == 0 || held_->computing.count(m.who.id) != 0);
      continue;
    }
    same = same
           && m.upload_bytes_per_second <= limits::other_line * line->second;
    // For the step after the contract's it may have computed beside the round.
    if (m.samples > 0 && x.step > what.step + 1) {
      unwilling_[m.who.id] = x.step + limits::unwilling_for;
      same = false;
    }
  }
  return same && missing.empty();
}

void resting::look() {
  if (!pending_)
    return;
  const auto x = *std::exchange(pending_, std::nullopt);
  for (auto i = unwilling_.begin(); i != unwilling_.end();)
    i = i->second < x.step ? unwilling_.erase(i) : std::next(i);
  if (held_ && stands(x))
    return;
  held_.reset();
  std::set<peer_id> unwilling;
  for (const auto& [id, until] : unwilling_)
    unwilling.insert(id);
  const auto choice = choose_resting(x, rules_, unwilling);
  if (std::none_of(choice.rests.begin(), choice.rests.end(),
                   [](bool rests) { return rests; }))
    return;
  held_ = held{};
  auto& what = held_->what;
  what.step = x.step;
  what.seconds_all = choice.seconds_all;
  what.seconds = choice.seconds;
  const auto saved = choice.seconds_all / choice.seconds - 1;
  what.until = x.step
               + std::clamp(static_cast<std::uint64_t>(
                                std::min(limits::rest_in_trials * saved, 1e6)),
                            limits::shortest_rest, limits::longest_rest);
  held_->auxiliaries = uplinks_of_auxiliaries(x);
  for (std::size_t i = 0; i < x.members.size(); ++i) {
    const auto& m = x.members[i];
    if (choice.rests[i]) {
      what.resting.insert(m.who.id);
      held_->uplinks[m.who.id] = m.upload_bytes_per_second;
    } else if (m.samples > 0) {
      held_->computing.insert(m.who.id);
    }
  }
}

bool resting::rests(std::uint64_t step, duration since) {
  look();
  if (!willing_ || !held_)
    return false;
  const auto& what = held_->what;
  const std::chrono::duration<double> longest
      = std::chrono::duration<double>{limits::overlong * what.seconds}
        + limits::overlong_more;
  return step > what.step && step < what.until && since <= longest
         && what.resting.count(self_) != 0;
}

} // namespace potluck
