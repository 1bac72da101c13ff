#include "runtime/optimizer/rules.hpp"

#include "runtime/numbers.hpp"

namespace potluck {

namespace optimizers {

extern const optimizer_kind lamb;
extern const optimizer_kind dedloc_lamb;
extern const optimizer_kind adam;
extern const optimizer_kind adamw;
extern const optimizer_kind sgd;
extern const optimizer_kind lars;
extern const optimizer_kind larc;
extern const optimizer_kind lion;

} // namespace optimizers

const std::vector<const optimizer_kind*>& optimizer_kinds() {
  using namespace optimizers;
  static const std::vector<const optimizer_kind*> kinds{
      &lamb, &dedloc_lamb, &adam, &adamw, &sgd, &lars, &larc, &lion,
  };
  return kinds;
}

const optimizer_kind* find_optimizer(const std::string& name) {
  for (auto kind : optimizer_kinds())
    if (kind->name == name)
      return kind;
  return nullptr;
}

namespace {

template <class Range, class Name>
std::string list_of(const Range& range, Name name) {
  std::string all;
  for (const auto& x : range)
    all += (all.empty() ? "" : ", ") + name(x);
  return all.empty() ? "none" : all;
}

} // namespace

expected<std::unique_ptr<optimizer_rule>>
make_rule(const std::string& name, const rule_numbers& numbers) {
  const auto kind = find_optimizer(name);
  if (!kind)
    return failure{
        "there is no optimizer called \"" + harmless(name) + "\"; there are "
        + list_of(optimizer_kinds(), [](auto x) { return x->name; })};
  rule_numbers all;
  for (const auto& x : kind->numbers)
    all[x.name] = x.usual;
  for (const auto& [number, value] : numbers)
    if (all.count(number) == 0)
      return failure{name + " has no " + number + "; its numbers are "
                     + list_of(kind->numbers, [](auto& x) { return x.name; })};
    else
      all[number] = value;
  for (const auto& x : kind->numbers)
    if (const auto value = all[x.name]; !(value >= x.least && value < x.below))
      return failure{x.name + " is " + readable(value)
                     + ", but must be at least " + readable(x.least)
                     + " and less than " + readable(x.below)};
  return kind->make(all);
}

} // namespace potluck
