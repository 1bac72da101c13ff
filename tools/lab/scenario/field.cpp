#include "tools/lab/scenario/field.hpp"

#include <algorithm>
#include <set>

#include "tools/lab/scenario/limits.hpp"

namespace potluck {

namespace {

using law = quantity::law;

const std::vector<std::pair<std::string, law>> laws{
    {"uniform", law::uniform},
    {"exponential", law::exponential},
    {"lognormal", law::lognormal}};

void take_law(const json_tree& j, const demand& d, quantity& out) {
  if (out.kind == law::exponential) {
    take(j, d, out.a);
  } else {
    if (!j.is_array() || j.size() != 2)
      wrong(out.kind == law::uniform
                ? "it takes two values, [from, to]."
                : "it takes two values, [median, deviation of the logarithm].");
    take(j[0], d, out.a);
    take(j[1], out.kind == law::uniform ? d : demand{measure::plain, 0, 5},
         out.b);
    if (out.kind == law::uniform && out.a > out.b)
      wrong("the first value is the lower one.");
  }
  if (out.kind != law::uniform && out.a <= 0)
    wrong("it needs a value above zero.");
}

} // namespace

void take(const json_tree& j, const demand& d, std::string& out) {
  out = text_of(j);
  const auto& known = d.choices;
  if (!known.empty()
      && std::find(known.begin(), known.end(), out) == known.end())
    unknown(d.name, out, known);
}

void take(const json_tree& j, const demand&, bool& out) {
  out = truth_of(j);
}

void take(const json_tree& j, const demand& d, double& out) {
  out = number_of(j, d.kind, d.low, d.high);
}

void take(const json_tree& j, const demand& d, std::size_t& out) {
  out = whole_of(j, d.low, d.high);
}

void take(const json_tree& j, const demand& d, duration& out) {
  out = to_duration(number_of(j, d.kind, d.low, d.high));
}

void take(const json_tree& j, const demand& d, quantity& out) {
  out = {};
  if (!j.is_object())
    return take(j, d, out.a);
  if (j.size() != 1)
    wrong("a distribution has one name, as in {\"exponential\": 60}.");
  const auto& name = j.begin().key();
  auto found = std::find_if(laws.begin(), laws.end(),
                            [&](const auto& x) { return x.first == name; });
  if (found == laws.end())
    unknown("distribution", name, {"uniform", "exponential", "lognormal"});
  out.kind = found->second;
  inside(name, [&] { take_law(j.front(), d, out); });
}

void take(const json_tree& j, const demand& d, std::vector<std::size_t>& out) {
  if (!j.is_array() || j.empty() || j.size() > limits::scenario_peers)
    wrong("it is a list of peers' numbers, as in [0, 3].");
  std::set<std::size_t> numbers;
  each_of(j, j.size(), [&](const json_tree& entry, std::size_t) {
    take(entry, d, out.emplace_back());
  });
  for (auto number : out)
    if (!numbers.insert(number).second)
      wrong("it names peer " + std::to_string(number) + " twice.");
}

json_tree give(const demand&, const std::string& x) {
  return x.empty() ? json_tree{} : json_tree(x);
}

json_tree give(const demand&, bool x) {
  return x;
}

json_tree give(const demand& d, double x) {
  return measured(d.kind, x);
}

json_tree give(const demand&, std::size_t x) {
  return x;
}

json_tree give(const demand& d, duration x) {
  return measured(d.kind, to_seconds(x));
}

json_tree give(const demand& d, const quantity& x) {
  const auto a = measured(d.kind, x.a);
  switch (x.kind) {
    case law::constant:
      break;
    case law::uniform:
      return {{"uniform", json_tree::array({a, measured(d.kind, x.b)})}};
    case law::exponential:
      return {{"exponential", a}};
    case law::lognormal:
      return {
          {"lognormal", json_tree::array({a, measured(measure::plain, x.b)})}};
  }
  return a;
}

json_tree give(const demand&, const std::vector<std::size_t>& xs) {
  return xs.empty() ? json_tree{} : json_tree(xs);
}

std::string noun_of(measure x) {
  switch (x) {
    case measure::seconds:
      return "time";
    case measure::rate:
      return "rate";
    case measure::share:
      return "share";
    case measure::plain:
      break;
  }
  return "number";
}

} // namespace potluck
