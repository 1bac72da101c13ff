/// What this member holds against others in a round, and what follows: data
/// that cannot be used, and parts that reducers refused.
///
/// One reducer's word is no proof, and most of them could spoil the mean as
/// well: so a member offends for everybody when more than half of those that
/// average its parts refuse them, and two at least. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/averaging/round/round_orders.hpp"

namespace potluck {

class round_faults {
public:
  round_faults(const chunk_map& map, std::size_t self)
      : map_{map}, self_{self} {
  }

  /// A member sent what cannot be used.
  round_orders blame(std::size_t member, const std::string& why) const;
  /// The same of a mean: one that counts will not come from there.
  round_orders blame_for_mean(std::size_t member, const std::string& why) const;
  /// A planned reducer refused a member's part, or says so with its mean.
  round_orders refused(std::size_t member, std::size_t reducer);

private:
  chunk_map map_;
  std::size_t self_;
  std::map<std::size_t, std::set<std::size_t>> refused_by_;
};

} // namespace potluck
