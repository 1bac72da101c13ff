#include "runtime/averaging/round/member_roll.hpp"

#include <algorithm>
#include <stdexcept>

namespace potluck {

member_roll::member_roll(const group_contract& contract, const peer_id& self) {
  for (const auto& x : contract.members) {
    const bool trains = x.role == role::trainer;
    if (index_of(x.who.id) != members_.size())
      throw std::invalid_argument{"A contract lists a member twice."};
    if (trains && !members_.empty() && !members_.back().trains)
      throw std::invalid_argument{"A contract lists trainers first."};
    members_.push_back({x.who.id, trains, x.samples});
  }
  self_ = index_of(self);
  if (self_ == members_.size())
    throw std::invalid_argument{"A contract lists this member."};
  if (!members_.front().trains)
    throw std::invalid_argument{"A contract lists a trainer."};
}

std::size_t member_roll::index_of(const peer_id& id) const {
  auto at = std::find_if(members_.begin(), members_.end(),
                         [&](const entry& x) { return x.id == id; });
  return static_cast<std::size_t>(at - members_.begin());
}

std::vector<bool> member_roll::down() const {
  std::vector<bool> result;
  for (const auto& x : members_)
    result.push_back(x.down);
  return result;
}

std::optional<std::int64_t>
member_roll::acting_epoch(std::int64_t answered) const {
  const auto first = std::max<std::int64_t>(answered, 0);
  for (auto epoch = first; epoch < first + std::int64_t(size()); ++epoch) {
    const auto& x = members_[leader_of(epoch)];
    if (x.trains && !x.lost())
      return epoch;
  }
  return std::nullopt;
}

bool member_roll::outnumbered() const {
  std::size_t here = 0;
  std::size_t there = 0;
  bool first_is_there = false;
  for (const auto& x : members_) {
    if (!x.trains || (x.down && !x.returned))
      continue;
    first_is_there = first_is_there || (here + there == 0 && x.down);
    ++(x.down ? there : here);
  }
  return there != 0 && (there > here || (there == here && first_is_there));
}

bool member_roll::most_without(std::size_t member) const {
  std::size_t trainers = 0;
  std::size_t left = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    trainers += members_[i].trains;
    left += members_[i].trains && i != member
            && (i == self_ || !members_[i].lost());
  }
  return 2 * left > trainers;
}

std::uint64_t member_roll::samples_alive() const {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < size(); ++i)
    if (i == self_ || !members_[i].lost())
      result += members_[i].samples;
  return result;
}

std::optional<std::size_t> member_roll::first_but(std::size_t member) const {
  for (std::size_t i = 0; i < size(); ++i)
    if (members_[i].trains && !members_[i].lost() && i != member && i != self_)
      return i;
  return std::nullopt;
}

void member_roll::fingerprint(std::string& out) const {
  for (const auto& x : members_)
    out.push_back(static_cast<char>(x.down | x.suspected << 1 | x.returned << 2
                                    | x.gave_up << 3));
}

} // namespace potluck
