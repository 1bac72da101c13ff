#include "tools/lab/scenario/scenario_numbers.hpp"

#include <algorithm>
#include <cmath>

namespace potluck {

namespace {

using what = scenario_value::what;

std::string shown(measure kind, double x) {
  auto text = print_measure(kind, x);
  return text.empty() ? print_number(x) : text;
}

complaint in_range(measure kind, double low, double high, double x) {
  if (x >= low && x <= high)
    return std::nullopt;
  return wrong(shown(kind, x) + " is out of range; it can be "
               + shown(kind, low) + " to " + shown(kind, high) + ".");
}

/// A number with or without a unit.
complaint read_scalar(const scenario_value& j, measure kind, double& out) {
  if (j.kind == what::number) {
    out = j.number;
    return std::nullopt;
  }
  if (j.kind == what::text && kind != measure::plain) {
    auto x = read_measure(kind, j.text);
    if (!x)
      return wrong(x.error());
    out = *x;
    return std::nullopt;
  }
  return wrong(write_tree(j, -1).substr(0, 60) + " is not understood; write "
               + example_of(kind) + ".");
}

} // namespace

complaint read_number(const scenario_value& j, measure kind, double low,
                      double high, double& out) {
  double x = 0;
  if (auto c = read_scalar(j, kind, x))
    return c;
  if (auto c = in_range(kind, low, high, x))
    return c;
  out = x;
  return std::nullopt;
}

complaint read_whole(const scenario_value& j, double low, double high,
                     std::size_t& out) {
  double x = 0;
  if (auto c = read_number(j, measure::plain, low, high, x))
    return c;
  if (x != std::floor(x))
    return wrong(print_number(x) + " is not a whole number.");
  out = static_cast<std::size_t>(x);
  return std::nullopt;
}

complaint read_quantity(const scenario_value& j, measure kind, double low,
                        double high, quantity& out) {
  if (j.kind != what::object) {
    out = {};
    return read_number(j, kind, low, high, out.a);
  }
  using law = quantity::law;
  static const std::vector<std::pair<std::string, law>> laws{
      {"uniform", law::uniform},
      {"exponential", law::exponential},
      {"lognormal", law::lognormal}};
  if (j.members.size() != 1)
    return wrong("a distribution has one name, as in {\"exponential\": 60}.");
  const auto& name = j.members[0].first;
  const auto& value = j.members[0].second;
  auto found = std::find_if(laws.begin(), laws.end(),
                            [&](const auto& x) { return x.first == name; });
  if (found == laws.end())
    return unknown("distribution", name,
                   {"uniform", "exponential", "lognormal"});
  quantity x{found->second, 0, 0};
  if (x.kind == law::exponential) {
    if (auto c = read_number(value, kind, low, high, x.a))
      return at(name, c);
  } else {
    if (value.kind != what::list || value.members.size() != 2)
      return at(name, wrong(x.kind == law::uniform
                                ? "it takes two values, [from, to]."
                                : "it takes two values, [median, deviation of "
                                  "the logarithm]."));
    if (auto c = read_number(value.members[0].second, kind, low, high, x.a))
      return at(name, c);
    auto second
        = x.kind == law::uniform
              ? read_number(value.members[1].second, kind, low, high, x.b)
              : read_number(value.members[1].second, measure::plain, 0, 5, x.b);
    if (second)
      return at(name, second);
    if (x.kind == law::uniform && x.a > x.b)
      return at(name, wrong("the first value is the lower one."));
  }
  if (x.kind != law::uniform && x.a <= 0)
    return at(name, wrong("it needs a value above zero."));
  out = x;
  return std::nullopt;
}

scenario_value write_number(measure kind, double x) {
  auto text = print_measure(kind, x);
  return text.empty() ? scenario_value::of(x) : scenario_value::of(text);
}

scenario_value write_quantity(measure kind, const quantity& x) {
  using law = quantity::law;
  if (x.kind == law::constant)
    return write_number(kind, x.a);
  auto values = scenario_value::empty(what::list);
  values.add("", write_number(kind, x.a));
  values.add("",
             write_number(x.kind == law::uniform ? kind : measure::plain, x.b));
  auto result = scenario_value::empty(what::object);
  if (x.kind == law::exponential)
    result.add("exponential", write_number(kind, x.a));
  else
    result.add(x.kind == law::uniform ? "uniform" : "lognormal",
               std::move(values));
  return result;
}

} // namespace potluck
