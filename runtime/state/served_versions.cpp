#include "runtime/state/served_versions.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

void served_versions::add(std::shared_ptr<const training_state> state) {
  if (after(state->step) || versions_.size() >= most_)
    return;
  versions_.emplace_back(std::move(state));
}

void served_versions::drop(std::uint64_t step) {
  versions_.erase(
      std::remove_if(versions_.begin(), versions_.end(),
                     [&](auto& x) { return x.state().step == step; }),
      versions_.end());
}

const state_snapshot* served_versions::after(std::uint64_t step) const {
  for (auto& x : versions_)
    if (x.state().step == step)
      return &x;
  return nullptr;
}

std::vector<std::uint64_t> served_versions::steps() const {
  std::vector<std::uint64_t> result;
  for (auto& x : versions_)
    result.push_back(x.state().step);
  return result;
}

shared_bytes served_versions::piece(const digest& state,
                                    std::uint32_t index) const {
  for (auto& x : versions_)
    if (x.digest() == state)
      return x.piece(index);
  return {};
}

bool served_versions::has_room_for(std::uint64_t step,
                                   std::set<std::uint64_t> awaited) const {
  for (auto& x : versions_)
    awaited.insert(x.state().step);
  awaited.erase(step);
  return awaited.size() < most_;
}

} // namespace potluck
