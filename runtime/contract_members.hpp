/// What a contract says of its members, in their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

inline std::vector<peer_id> ids_of(const group_contract& x) {
  std::vector<peer_id> result;
  for (const auto& member : x.members)
    result.push_back(member.who.id);
  return result;
}

inline std::vector<std::uint64_t> samples_by_member(const group_contract& x) {
  std::vector<std::uint64_t> result;
  for (const auto& member : x.members)
    result.push_back(member.samples);
  return result;
}

/// Their number. They come before the others.
inline std::size_t trainers_of(const group_contract& x) {
  return static_cast<std::size_t>(
      std::count_if(x.members.begin(), x.members.end(),
                    [](auto& m) { return m.role == role::trainer; }));
}

/// The trainers that are behind the step that its round has made; those that
/// brought nothing included.
/// @param left_out Indices of members whose gradients are not in all of it,
///     ascending.
inline std::vector<const group_member*>
trainers_behind(const group_contract& x,
                const std::vector<std::uint8_t>& left_out) {
  std::vector<const group_member*> result;
  for (std::size_t i = 0; i < x.members.size(); ++i)
    if (x.members[i].role == role::trainer
        && !std::binary_search(left_out.begin(), left_out.end(), i))
      result.push_back(&x.members[i]);
  return result;
}

} // namespace potluck
