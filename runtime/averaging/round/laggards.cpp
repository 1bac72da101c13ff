#include "runtime/averaging/round/laggards.hpp"

#include <algorithm>

namespace potluck {

laggards::laggards(const group_contract& contract, const chunk_map& map,
                   const direct_lines& lines, std::size_t self, double planned)
    : planned_{std::chrono::duration_cast<duration>(
        std::chrono::duration<double>(planned))},
      patience_{std::chrono::milliseconds{contract.patience_ms}} {
  const auto own = map.chunks_of(self).count;
  const bool trains = contract.members.at(self).role == role::trainer;
  for (std::size_t i = 0; i < contract.members.size(); ++i) {
    const bool gives = i != self && lines.between(self, i);
    const bool has_part = gives && contract.members[i].samples != 0;
    parts_.owes(i, has_part ? own : 0);
    means_.owes(i, gives && trains ? map.chunks_of(i).count : 0);
  }
}

std::vector<std::size_t> laggards::without_parts(duration age) const {
  return parts_.late(age, planned_, late_parts * patience_);
}

std::vector<std::size_t> laggards::without_means(duration age) const {
  return means_.late(age, planned_, late_means * patience_);
}

void laggards::account::owes(std::size_t member, std::uint32_t count) {
  owed_.resize(member + 1);
  owed_[member] = count;
  all_ += count != 0;
}

void laggards::account::came(std::size_t member, duration since) {
  if (owed_.at(member) == 0 || --owed_[member] != 0)
    return;
  if (2 * ++complete_ > all_ && !most_)
    most_ = since;
}

std::vector<std::size_t> laggards::account::late(duration age, duration planned,
                                                 duration grace) const {
  std::vector<std::size_t> result;
  if (!most_ || age < std::max(*most_, planned) + grace)
    return result;
  for (std::size_t i = 0; i < owed_.size(); ++i)
    if (owed_[i] != 0)
      result.push_back(i);
  return result;
}

} // namespace potluck
