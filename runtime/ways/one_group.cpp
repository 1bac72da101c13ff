#include "runtime/ways/one_group.hpp"

#include <algorithm>

#include "runtime/contract_members.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/ways/cells/gathering.hpp"

namespace potluck {

way::reports one_group::partners(const outlook& at) {
  return at.others.tracker().companions(at.now);
}

bool one_group::others_lead(const outlook& at, const reports& partners,
                            const leader_order& order, std::size_t passed_over,
                            duration) {
  return !should_lead(at.own, partners, order, passed_over);
}

bool one_group::due(const outlook& at) const {
  return at.others.tracker().target_reached(at.now);
}

void one_group::tell(const outlook& at, matchmaking_facts& facts) {
  // Members may gather others' gradients first, whatever this peer does.
  const auto& tracker = at.others.tracker();
  auto patience = [&](const progress_report& x) {
    return gathering_patience(x, facts.gradient_values,
                              tracker.computing(at.now));
  };
  facts.gathering = patience(reported(at));
  for (const auto& x : tracker.companions(at.now))
    facts.gathering = std::max(facts.gathering, patience(x));
}

std::pair<std::string, std::string>
one_group::explain(const outlook& at, const group_contract& contract) {
  const auto members = std::to_string(trainers_of(contract));
  std::uint64_t contributors = reported(at).contributors;
  for (auto& member : contract.members)
    if (auto known = at.others.report(member.who.id))
      contributors += known->contributors;
  if (contributors == 0)
    return {"one group",
            members + " trainers fit into a group of " + std::to_string(size_)};
  return {"two levels",
          std::to_string(contributors) + " trainers contribute through the "
              + members + " of a group of at most " + std::to_string(size_)};
}

} // namespace potluck
