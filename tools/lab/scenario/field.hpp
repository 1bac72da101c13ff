/// One line for each member that an object of a file may have: from it reading,
/// writing, complaints and help follow. Private to this folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/lab/scenario/json_text.hpp"
#include "tools/lab/scenario/scenario.hpp"

namespace potluck {

/// What a value has to be.
struct demand {
  measure kind = measure::plain;
  double low = 0;
  double high = 0;
  std::vector<std::string> choices = {}; ///< Of a text; none: any.
  std::size_t most = 0;                  ///< Entries of a list.
  std::string name = {};                 ///< Of the field.
};

template <class T>
struct field {
  std::string name;
  std::string form;    ///< Of its value, for help: "time or law".
  std::string meaning; ///< For help, without the default.
  /// Throws a `mistake`.
  std::function<void(const json_tree&, T&)> read;
  /// Null when it stands in no file, since it does not apply or is empty.
  std::function<json_tree(const T&)> write;
  std::string standard = {}; ///< The default, for help.
  bool always = false;       ///< Is written even when it is the default.
};

/// All that an object may hold.
template <class T>
struct object_format {
  std::vector<field<T>> fields;
  /// What must hold between the fields of `x`, just read from the tree.
  std::function<void(const json_tree&, T& x)> check = [](auto&, auto&) {};
};

/// Of scenario, peer_group, stranger_group, line_profile, fault_rule,
/// fault_target and expectation.
template <class T>
const object_format<T>& format_of();
template <>
const object_format<scenario>& format_of();
template <>
const object_format<peer_group>& format_of();
template <>
const object_format<stranger_group>& format_of();
template <>
const object_format<line_profile>& format_of();
template <>
const object_format<fault_rule>& format_of();
template <>
const object_format<fault_target>& format_of();
template <>
const object_format<expectation>& format_of();

template <class T>
void read_object(const json_tree& j, T& out) {
  const auto& format = format_of<T>();
  std::vector<std::string> known;
  for (const auto& x : format.fields)
    known.push_back(x.name);
  only_members(j, known);
  for (const auto& x : format.fields)
    if (auto value = find(j, x.name))
      inside(x.name, [&] { x.read(*value, out); });
  format.check(j, out);
}

/// All members that differ from their defaults.
template <class T>
json_tree write_object(const T& x) {
  auto result = json_tree::object();
  for (const auto& member : format_of<T>().fields) {
    auto value = member.write(x);
    if (!value.is_null() && (member.always || value != member.write(T{})))
      result[member.name] = std::move(value);
  }
  return result;
}

/// What `amount` of a fault means, and its limits.
struct amount_rule {
  measure kind = measure::plain;
  double low = 0;
  double high = 0;
};
amount_rule amount_rule_of(fault_kind x);

// ---- values -----------------------------------------------------------------

void take(const json_tree& j, const demand& d, std::string& out);
void take(const json_tree& j, const demand& d, bool& out);
void take(const json_tree& j, const demand& d, double& out);
void take(const json_tree& j, const demand& d, std::size_t& out);
void take(const json_tree& j, const demand& d, duration& out);
/// A number, or {"exponential": mean}, {"uniform": [from, to]},
/// {"lognormal": [median, deviation of the logarithm]}.
void take(const json_tree& j, const demand& d, quantity& out);
/// Numbers of peers.
void take(const json_tree& j, const demand& d, std::vector<std::size_t>& out);
template <class T>
void take(const json_tree& j, const demand& d, std::optional<T>& out) {
  take(j, d, out.emplace());
}
template <class T>
void take(const json_tree& j, const demand&, T& out) {
  read_object(j, out);
}
template <class T>
void take(const json_tree& j, const demand& d, std::vector<T>& out) {
  each_of(j, d.most, [&](const json_tree& entry, std::size_t) {
    read_object(entry, out.emplace_back());
  });
}

json_tree give(const demand& d, const std::string& x);
json_tree give(const demand& d, bool x);
json_tree give(const demand& d, double x);
json_tree give(const demand& d, std::size_t x);
json_tree give(const demand& d, duration x);
json_tree give(const demand& d, const quantity& x);
json_tree give(const demand& d, const std::vector<std::size_t>& xs);
template <class T>
json_tree give(const demand& d, const std::optional<T>& x) {
  return x ? give(d, *x) : json_tree{};
}
template <class T>
json_tree give(const demand&, const T& x) {
  auto result = write_object(x);
  return result.empty() ? json_tree{} : result;
}
template <class T>
json_tree give(const demand&, const std::vector<T>& xs) {
  json_tree result;
  for (const auto& x : xs)
    result.push_back(write_object(x));
  return result;
}

/// "time", "rate", "share" or "number".
std::string noun_of(measure x);

/// What a value is called in help: "time or law".
template <class Value>
std::string form_of(const demand& d, const Value&) {
  if constexpr (std::is_same_v<Value, std::string>)
    return "text";
  else if constexpr (std::is_same_v<Value, bool>)
    return "true or false";
  else if constexpr (std::is_same_v<Value, quantity>)
    return noun_of(d.kind) + " or law";
  else if constexpr (std::is_same_v<Value, std::vector<std::size_t>>)
    return "numbers";
  else if constexpr (std::is_arithmetic_v<
                         Value> || std::is_same_v<Value, duration>)
    return noun_of(d.kind);
  else
    return d.name + ", below";
}
template <class Value>
std::string form_of(const demand& d, const std::optional<Value>&) {
  return form_of(d, Value{});
}

// ---- fields -----------------------------------------------------------------

template <class T, class Value>
field<T> member(const std::string& name, Value T::*where,
                const std::string& meaning, demand d = {}) {
  d.name = name;
  const auto standard = give(d, T{}.*where);
  return {name,
          form_of(d, T{}.*where),
          meaning,
          [d, where](const json_tree& j, T& x) { take(j, d, x.*where); },
          [d, where](const T& x) { return give(d, x.*where); },
          standard.is_null()     ? ""
          : standard.is_string() ? standard.template get<std::string>()
                                 : write_tree(standard, -1)};
}

} // namespace potluck
