#include "runtime/direct_lines.hpp"

#include <map>

namespace potluck {

direct_lines::direct_lines(const group_contract& contract)
    : size_{contract.members.size()}, apart_(size_ * size_) {
  std::map<peer_id, std::size_t> place;
  for (std::size_t i = 0; i < size_; ++i) {
    place.emplace(contract.members[i].who.id, i);
    trains_.push_back(contract.members[i].role == role::trainer);
  }
  auto part = [&](std::size_t a, std::size_t b) {
    if (a == b)
      return;
    apart_[a * size_ + b] = apart_[b * size_ + a] = true;
    complete_ = false;
  };
  for (std::size_t i = 0; i < size_; ++i)
    for (const auto& id : contract.members[i].relayed) {
      auto other = place.find(id);
      if (other == place.end())
        continue;
      if (other->second != i)
        part(i, other->second);
      else
        for (std::size_t j = 0; j < size_; ++j)
          if (trains_[j])
            part(i, j);
    }
}

bool direct_lines::serves_all(std::size_t member) const {
  return complete_ || serves(member, trains_);
}

bool direct_lines::serves(std::size_t member,
                          const std::vector<bool>& here) const {
  for (std::size_t i = 0; i < size_; ++i)
    if (here[i] && trains_[i] && !between(member, i))
      return false;
  return true;
}

} // namespace potluck
