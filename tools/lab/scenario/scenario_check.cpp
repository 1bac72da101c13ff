#include "tools/lab/scenario/scenario_check.hpp"

#include <algorithm>
#include <set>

#include "runtime/config.hpp"
#include "tools/lab/scenario/scenario_fields.hpp"

namespace potluck {

namespace {

bool is_one_of(const std::vector<peer_group>& groups, const std::string& name) {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const auto& x) { return x.name == name; });
}

complaint check_fault(const scenario& all, const fault_rule& x) {
  for (const auto& name :
       {x.who.group, x.kind == fault_kind::join ? x.detail : ""})
    if (!name.empty() && !is_one_of(all.groups, name)) {
      std::vector<std::string> known;
      for (const auto& group : all.groups)
        known.push_back(group.name);
      return unknown("group", name, known);
    }
  auto more = std::any_of(
      all.faults.begin(), all.faults.end(),
      [](const auto& other) { return other.kind == fault_kind::join; });
  for (auto number : x.who.peers)
    if (number >= all.peers() && !more)
      return wrong("there is no peer " + std::to_string(number) + "; there are "
                   + std::to_string(all.peers()) + ", counted from 0.");
  return std::nullopt;
}

} // namespace

std::string entry(std::size_t i) {
  return "entry " + std::to_string(i + 1);
}

complaint check(const scenario_value&, const line_profile&) {
  return std::nullopt;
}

complaint check(const scenario_value&, const expectation&) {
  return std::nullopt;
}

complaint check(const scenario_value& j, const peer_group& x) {
  if (x.name.empty())
    return wrong("it needs a `name`.");
  if (x.stays && !j.find("away"))
    return wrong("`stays` needs `away`: how long it is gone then.");
  if (!x.stays && j.find("away"))
    return wrong("`away` needs `stays`: how long it is there before.");
  if (x.behind_nat && x.role == "bootstrap")
    return wrong("a bootstrap behind a NAT could not be dialled by anybody.");
  return std::nullopt;
}

complaint check(const scenario_value& j, fault_target& x) {
  auto has = [&](const char* name) { return j.find(name) != nullptr; };
  if (has("random") && has("share"))
    return wrong("it has either `random` or `share`.");
  if (has("peers") && j.members.size() > 1)
    return wrong("`peers` names them all; nothing else stands beside it.");
  if (j.members.empty())
    return wrong("it needs `peers`, `random`, `share` or `group`.");
  if (has("group") && j.members.size() == 1)
    x.share = 1;
  return std::nullopt;
}

complaint check(const scenario_value& j, const fault_rule& x) {
  const auto& trait = trait_of(x.kind);
  if (!j.find("fault"))
    return wrong("it needs a `fault`.");
  if (trait.has_amount && !j.find("amount"))
    return wrong(trait.name + " needs an `amount`: "
                 + example_of(amount_rule_of(x.kind).kind) + ".");
  if (!trait.lasts && x.lasts)
    return wrong(trait.name + " takes no `for`: it happens in a moment.");
  if (x.back_after && x.kind != fault_kind::kill
      && x.kind != fault_kind::power_cut && x.kind != fault_kind::leave)
    return wrong(trait.name
                 + " takes no `back_after`: only kill, power_cut and leave "
                   "do.");
  if (x.until && !x.every)
    return wrong("`until` needs `every`.");
  if (x.kind == fault_kind::misbehave && x.detail.empty())
    return wrong("misbehave needs a `manner`.");
  if (x.kind == fault_kind::join && x.detail.empty())
    return wrong("join needs a `group`.");
  return std::nullopt;
}

complaint check(const scenario_value&, const scenario& x) {
  std::size_t trainers = 0;
  std::set<std::string> names;
  for (std::size_t i = 0; i < x.groups.size(); ++i) {
    const auto& group = x.groups[i];
    if (!names.insert(group.name).second)
      return at("groups", at(entry(i), wrong("another group is called `"
                                             + group.name + "` too.")));
    // Experts live without trainers.
    if (group.role == "trainer" || group.role == "expert")
      trainers += group.count;
  }
  if (trainers == 0)
    return at("groups", wrong("there is no trainer; add a group as in "
                              "{\"name\": \"homes\", \"count\": 4}."));
  if (x.peers() > limits::scenario_peers)
    return at("groups",
              wrong("they are more than "
                    + std::to_string(limits::scenario_peers) + " peers."));
  for (std::size_t i = 0; i < x.faults.size(); ++i)
    if (auto c = check_fault(x, x.faults[i]))
      return at("faults", at(entry(i), c));
  return std::nullopt;
}

} // namespace potluck
