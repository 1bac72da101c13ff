// From a file's text to a scenario, with a sentence and a place for every
// mistake.

#include <algorithm>
#include <set>
#include <stdexcept>

#include "runtime/config.hpp"
#include "runtime/state/charter_fields.hpp"
#include "tools/lab/scenario/scenario_check.hpp"
#include "tools/lab/scenario/scenario_fields.hpp"
#include "tools/lab/scenario/scenario_numbers.hpp"

namespace potluck {

namespace {

using what = scenario_value::what;

/// Lists are named plainly, since their entries follow; what a fault is needs
/// no place besides its entry's.
template <class T>
std::string place_of(const scenario_field<T>& field) {
  if (std::holds_alternative<std::vector<peer_group> T::*>(field.where)
      || std::holds_alternative<std::vector<fault_rule> T::*>(field.where))
    return field.name;
  return field.name == "fault" ? "" : "`" + field.name + "`";
}

// ---- objects
// -------------------------------------------------------------------

template <class T>
complaint read_object(const scenario_value& j, T& out);

template <class T>
complaint read_list(const scenario_value& j, std::size_t most,
                    std::vector<T>& out) {
  if (j.kind != what::list)
    return wrong("it is a list, [ ... ].");
  if (j.members.size() > most)
    return wrong("it has more than " + std::to_string(most) + " entries.");
  out.resize(j.members.size());
  for (std::size_t i = 0; i < j.members.size(); ++i)
    if (auto c = read_object(j.members[i].second, out[i]))
      return at(entry(i), c);
  return std::nullopt;
}

complaint read_run(const scenario_value& j, std::vector<setting>& out) {
  if (j.kind != what::object)
    return wrong("it is an object, as in {\"target-batch\": 256}.");
  std::vector<std::string> known;
  for (const auto& field : charter_fields())
    known.push_back(field.name);
  for (const auto& [name, value] : j.members) {
    auto i = std::find(known.begin(), known.end(), name);
    if (i == known.end())
      return unknown("setting", name, known);
    if (value.kind != what::text && value.kind != what::number)
      return wrong("`" + name + "` is a number or a text.");
    run_settings settings;
    const auto& field
        = charter_fields()[static_cast<std::size_t>(i - known.begin())];
    if (auto done = field.assign(settings, value.text); !done)
      return wrong(done.error() + ".");
    out.push_back({name, field.print(settings)});
  }
  return std::nullopt;
}

/// Reads members, whatever object they belong to.
template <class T>
class member_reader {
public:
  member_reader(const scenario_value& j, const scenario_field<T>& field, T& out)
      : j_(j), field_(field), out_(out) {
  }

  complaint operator()(std::string T::*x) const {
    return text_of_choice(out_.*x);
  }
  complaint operator()(bool T::*x) const {
    if (j_.kind != what::truth)
      return wrong("it is true or false.");
    out_.*x = j_.truth;
    return std::nullopt;
  }
  complaint operator()(double T::*x) const {
    return read_number(j_, field_.kind, field_.low, field_.high, out_.*x);
  }
  complaint operator()(std::optional<double> T::*x) const {
    return read_number(j_, field_.kind, field_.low, field_.high,
                       (out_.*x).emplace());
  }
  complaint operator()(std::size_t T::*x) const {
    return read_whole(j_, field_.low, field_.high, out_.*x);
  }
  complaint operator()(duration T::*x) const {
    double seconds = 0;
    auto c = read_number(j_, field_.kind, field_.low, field_.high, seconds);
    out_.*x = to_duration(seconds);
    return c;
  }
  complaint operator()(std::optional<duration> T::*x) const {
    double seconds = 0;
    auto c = read_number(j_, field_.kind, field_.low, field_.high, seconds);
    out_.*x = to_duration(seconds);
    return c;
  }
  complaint operator()(quantity T::*x) const {
    return read_quantity(j_, field_.kind, field_.low, field_.high, out_.*x);
  }
  complaint operator()(std::optional<quantity> T::*x) const {
    return read_quantity(j_, field_.kind, field_.low, field_.high,
                         (out_.*x).emplace());
  }
  complaint operator()(std::vector<std::size_t> T::*x) const {
    if (j_.kind != what::list || j_.members.empty()
        || j_.members.size() > limits::scenario_peers)
      return wrong("it is a list of peers' numbers, as in [0, 3].");
    std::set<std::size_t> numbers;
    for (std::size_t i = 0; i < j_.members.size(); ++i) {
      std::size_t number = 0;
      if (auto c
          = read_whole(j_.members[i].second, field_.low, field_.high, number))
        return at(entry(i), c);
      if (!numbers.insert(number).second)
        return wrong("it names peer " + std::to_string(number) + " twice.");
      (out_.*x).push_back(number);
    }
    return std::nullopt;
  }
  complaint operator()(line_profile T::*x) const {
    return read_object(j_, out_.*x);
  }
  complaint operator()(expectation T::*x) const {
    return read_object(j_, out_.*x);
  }
  complaint operator()(std::vector<peer_group> T::*x) const {
    return read_list(j_, limits::scenario_groups, out_.*x);
  }
  complaint operator()(std::vector<fault_rule> T::*x) const {
    return read_list(j_, limits::scenario_rules, out_.*x);
  }
  complaint operator()(special_field x) const {
    if constexpr (std::is_same_v<T, scenario>)
      return read_run(j_, out_.run);
    else if constexpr (std::is_same_v<T, fault_rule>)
      return special(x);
    throw std::logic_error("a field of a scenario has no reader.");
  }

private:
  complaint text_of_choice(std::string& out) const {
    if (j_.kind != what::text)
      return wrong("it is a text, between double quotes.");
    out = j_.text;
    const auto& choices = field_.choices;
    if (!choices.empty()
        && std::find(choices.begin(), choices.end(), out) == choices.end())
      return unknown(field_.name, out, choices);
    return std::nullopt;
  }

  /// Of a fault. Its kind comes first in the table, so it is known.
  complaint special(special_field x) const {
    if (auto owner = owner_of(x); owner && *owner != out_.kind)
      return wrong("only " + to_string(*owner) + " has it, not "
                   + to_string(out_.kind) + ".");
    switch (x) {
      case special_field::kind:
        return read_kind();
      case special_field::target:
        if (out_.kind == fault_kind::join)
          return wrong("join takes `group` and `count` instead.");
        return read_object(j_, out_.who);
      case special_field::amount: {
        if (!trait_of(out_.kind).has_amount)
          return wrong(to_string(out_.kind) + " has none.");
        auto rule = amount_rule_of(out_.kind);
        return read_number(j_, rule.kind, rule.low, rule.high, out_.amount);
      }
      case special_field::actor:
      case special_field::manner:
      case special_field::group:
        return text_of_choice(out_.detail);
      case special_field::joiners:
        return read_whole(j_, field_.low, field_.high, out_.who.count);
      case special_field::run:
        break;
    }
    throw std::logic_error("a field of a fault has no reader.");
  }

  complaint read_kind() const {
    std::string name;
    if (auto c = text_of_choice(name))
      return c;
    std::vector<std::string> known;
    for (const auto& trait : fault_traits()) {
      if (trait.name == name) {
        out_.kind = trait.kind;
        return std::nullopt;
      }
      known.push_back(trait.name);
    }
    return unknown("fault", name, known);
  }

  const scenario_value& j_;
  const scenario_field<T>& field_;
  T& out_;
};

template <class T>
complaint read_object(const scenario_value& j, T& out) {
  if (j.kind != what::object)
    return wrong("it is an object, { ... }.");
  std::vector<std::string> known;
  for (const auto& field : scenario_fields<T>())
    known.push_back(field.name);
  for (const auto& [name, value] : j.members)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return unknown("field", name, known);
  for (const auto& field : scenario_fields<T>())
    if (auto value = j.find(field.name))
      if (auto c
          = std::visit(member_reader<T>{*value, field, out}, field.where))
        return at(place_of(field), c);
  return check(j, out);
}

} // namespace

expected<scenario> parse_scenario(const std::string& text) {
  auto tree = read_tree(text);
  if (!tree)
    return failure{tree.error()};
  scenario result;
  if (auto c = read_object(*tree, result))
    return failure{to_string(*c)};
  return result;
}

} // namespace potluck
