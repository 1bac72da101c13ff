#include "runtime/averaging/round/round_faults.hpp"

namespace potluck {

round_orders round_faults::blame(std::size_t member,
                                 const std::string& why) const {
  round_orders out{round_fault{member, "bad data", why}};
  if (member != self_)
    out.emplace_back(member_accused{member, why});
  return out;
}

round_orders round_faults::blame_for_mean(std::size_t member,
                                          const std::string& why) const {
  auto out = blame(member, why);
  out.emplace_back(member_dropped{member, why});
  return out;
}

round_orders round_faults::refused(std::size_t member, std::size_t reducer) {
  if (member >= map_.member_count()
      || !refused_by_[member].insert(reducer).second)
    return {};
  if (member == self_)
    return {round_fault{reducer, "refused our part",
                        "what this peer computed was left out of a mean; check "
                        "its memory and its settings"}};
  const auto refused = refused_by_[member].size();
  std::size_t reducers = 0;
  for (std::size_t i = 0; i < map_.member_count(); ++i)
    reducers += i != member && map_.chunks_of(i).count != 0;
  if (refused < 2 || 2 * refused <= reducers)
    return {};
  return {member_accused{member,
                         "its part was refused by " + std::to_string(refused)
                             + " of " + std::to_string(reducers) + " reducers",
                         true}};
}

} // namespace potluck
