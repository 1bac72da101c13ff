/// Which trainers of a contract are behind the step that its round has made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

/// Those that brought nothing included.
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
