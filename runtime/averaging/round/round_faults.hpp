/// What this member holds against others in a round, and what follows: data
/// that cannot be used, and parts that reducers refused.
///
/// One reducer's word is no proof, and most of them could spoil the mean as
/// well: so a member offends for everybody when more than half of the trainers
/// that average its parts refuse them, and two at least. Auxiliaries cost
/// nobody anything, so most of them prove nothing: where fewer than two
/// trainers average, groups form without both sides for a while. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/averaging/round/round_orders.hpp"

namespace potluck {

class round_faults {
public:
  round_faults(const chunk_map& map, std::size_t self,
               const group_contract& contract);

  /// A member sent what cannot be used.
  round_orders blame(std::size_t member, const std::string& why) const;
  /// The same of a mean: one that counts will not come from there.
  round_orders blame_for_mean(std::size_t member, const std::string& why) const;
  /// A planned reducer refused a member's part, or says so with its mean.
  round_orders refused(std::size_t member, std::size_t reducer);

private:
  struct count {
    std::size_t reducers = 0; ///< Of a member's parts.
    std::size_t refused = 0;

    bool most_refuse() const {
      return refused >= 2 && 2 * refused > reducers;
    }
  };
  /// Among these members, from the first on.
  count count_among(std::size_t members, std::size_t of) const;

  chunk_map map_;
  std::size_t self_;
  std::size_t trainers_; ///< The first members; then auxiliaries follow.
  std::map<std::size_t, std::set<std::size_t>> refused_by_;
  std::set<std::size_t> doubted_;
};

} // namespace potluck
