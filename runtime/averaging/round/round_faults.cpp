#include "runtime/averaging/round/round_faults.hpp"

#include "runtime/contract_members.hpp"

namespace potluck {

round_faults::round_faults(const chunk_map& map, std::size_t self,
                           const group_contract& contract)
    : map_{map}, self_{self}, trainers_{trainers_of(contract)} {
}

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
  const auto by_trainers = count_among(trainers_, member);
  if (by_trainers.most_refuse())
    return {member_accused{member,
                           "its part was refused by "
                               + std::to_string(by_trainers.refused) + " of "
                               + std::to_string(by_trainers.reducers)
                               + " trainers that average",
                           true}};
  const auto by_all = count_among(map_.member_count(), member);
  if (by_trainers.reducers >= 2 || !by_all.most_refuse()
      || !doubted_.insert(member).second)
    return {};
  members_in_doubt both{{member}, "its part was refused by auxiliaries alone"};
  for (auto reducer : refused_by_[member])
    if (reducer >= trainers_)
      both.members.push_back(reducer);
  return {std::move(both)};
}

round_faults::count round_faults::count_among(std::size_t members,
                                              std::size_t of) const {
  count result;
  const auto& refused = refused_by_.at(of);
  for (std::size_t i = 0; i < members; ++i)
    if (i != of && map_.chunks_of(i).count != 0) {
      ++result.reducers;
      result.refused += refused.count(i);
    }
  return result;
}

} // namespace potluck
