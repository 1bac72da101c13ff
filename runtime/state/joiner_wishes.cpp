#include "runtime/state/joiner_wishes.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// It wants the pieces of a whole state.
bool fetches_state(const state_request& wish) {
  return !wish.means_only && !wish.lists_only;
}

/// The whole state after that step, or at least its list.
bool wants_version(const state_request& wish, std::uint64_t step) {
  return !wish.means_only && wish.step == step;
}

} // namespace

const joiner_wishes::joiner& joiner_wishes::add(const peer_id& id,
                                                const state_request& wish) {
  unanswered_.insert(id);
  steps_.insert(wish.step);
  return joiners_[id] = {wish, wish.step};
}

void joiner_wishes::answered(const peer_id& id) {
  unanswered_.erase(id);
}

void joiner_wishes::told(const peer_id& id, std::uint64_t step) {
  joiners_.at(id).means_told = step;
}

void joiner_wishes::forget(const peer_id& id) {
  unanswered_.erase(id);
  if (auto known = joiners_.find(id); known != joiners_.end()) {
    steps_.erase(steps_.find(known->second.wish.step));
    joiners_.erase(known);
  }
}

const joiner_wishes::joiner* joiner_wishes::find(const peer_id& id) const {
  const auto known = joiners_.find(id);
  return known == joiners_.end() ? nullptr : &known->second;
}

std::optional<std::uint64_t> joiner_wishes::earliest() const {
  if (steps_.empty())
    return std::nullopt;
  return *steps_.begin();
}

bool joiner_wishes::awaited(std::uint64_t step) const {
  return std::any_of(unanswered_.begin(), unanswered_.end(), [&](auto& id) {
    return joiners_.at(id).wish.step == step;
  });
}

std::set<std::uint64_t>
joiner_wishes::awaited_before(std::uint64_t step) const {
  std::set<std::uint64_t> result;
  for (const auto& id : unanswered_)
    if (const auto& x = joiners_.at(id).wish; fetches_state(x) && x.step < step)
      result.insert(x.step);
  return result;
}

std::uint64_t joiner_wishes::latest_awaited() const {
  std::uint64_t result = 0;
  for (const auto& id : unanswered_)
    if (const auto& x = joiners_.at(id).wish; fetches_state(x))
      result = std::max(result, x.step);
  return result;
}

std::vector<peer_id> joiner_wishes::fetching(std::uint64_t step) const {
  std::vector<peer_id> result;
  for (const auto& [id, x] : joiners_)
    if (wants_version(x.wish, step))
      result.push_back(id);
  return result;
}

bool joiner_wishes::is_fetched(std::uint64_t step) const {
  return std::any_of(joiners_.begin(), joiners_.end(), [&](auto& x) {
    return wants_version(x.second.wish, step);
  });
}

} // namespace potluck
