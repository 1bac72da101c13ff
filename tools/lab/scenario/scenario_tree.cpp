#include "tools/lab/scenario/scenario_tree.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "runtime/nearest_name.hpp"
#include "tools/lab/scenario/scenario_values.hpp"

namespace potluck {

namespace {

using json = nlohmann::ordered_json;
using what = scenario_value::what;

/// A scenario has a dozen at most: {groups: [{line: {delay: {uniform: []}}}]}.
constexpr int deepest = 16;

scenario_value from_json(const json& j) {
  switch (j.type()) {
    case json::value_t::boolean:
      return scenario_value::of(j.get<bool>());
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
    case json::value_t::number_float: {
      auto x = scenario_value::of(j.get<double>());
      x.text = j.dump();
      return x;
    }
    case json::value_t::string:
      return scenario_value::of(j.get<std::string>());
    case json::value_t::array: {
      auto x = scenario_value::empty(what::list);
      for (const auto& item : j)
        x.add("", from_json(item));
      return x;
    }
    case json::value_t::object: {
      auto x = scenario_value::empty(what::object);
      for (const auto& [name, item] : j.items())
        x.add(name, from_json(item));
      return x;
    }
    default:
      return {};
  }
}

json to_json(const scenario_value& x) {
  switch (x.kind) {
    case what::truth:
      return x.truth;
    case what::number:
      return json::parse(x.text);
    case what::text:
      return x.text;
    case what::list: {
      auto result = json::array();
      for (const auto& [name, item] : x.members)
        result.push_back(to_json(item));
      return result;
    }
    case what::object: {
      auto result = json::object();
      for (const auto& [name, item] : x.members)
        result[name] = to_json(item);
      return result;
    }
    case what::nothing:
      break;
  }
  return nullptr;
}

/// Behind "[json.exception.parse_error.101] ".
std::string plain(const std::string& text) {
  auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

} // namespace

scenario_value scenario_value::of(bool x) {
  scenario_value result;
  result.kind = what::truth;
  result.truth = x;
  return result;
}

scenario_value scenario_value::of(double x) {
  scenario_value result;
  result.kind = what::number;
  result.number = x;
  result.text = print_number(x);
  return result;
}

scenario_value scenario_value::of(const std::string& x) {
  scenario_value result;
  result.kind = what::text;
  result.text = x;
  return result;
}

scenario_value scenario_value::of(const char* x) {
  return of(std::string{x});
}

scenario_value scenario_value::empty(what kind) {
  scenario_value result;
  result.kind = kind;
  return result;
}

const scenario_value* scenario_value::find(const std::string& name) const {
  for (const auto& [key, value] : members)
    if (key == name)
      return &value;
  return nullptr;
}

void scenario_value::add(const std::string& name, scenario_value x) {
  members.push_back({name, std::move(x)});
}

expected<scenario_value> read_tree(const std::string& text) {
  std::vector<std::set<std::string>> open; ///< Names of the objects around.
  std::string trouble;
  auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    using e = json::parse_event_t;
    if (depth > deepest) {
      if (trouble.empty())
        trouble = "The brackets are nested deeper than in any scenario.";
      return false;
    }
    if (event == e::object_start)
      open.emplace_back();
    else if (event == e::object_end)
      open.pop_back();
    else if (event == e::key
             && !open.back().insert(parsed.get<std::string>()).second
             && trouble.empty())
      trouble = "The name `" + parsed.get<std::string>()
                + "` stands twice in one object.";
    return true;
  };
  try {
    auto j = json::parse(text, watch, true, true);
    if (!trouble.empty())
      return failure{trouble};
    return from_json(j);
  } catch (const json::exception& problem) {
    return failure{"This is not JSON: " + plain(problem.what()) + "."};
  }
}

std::string write_tree(const scenario_value& x, int indent) {
  return to_json(x).dump(indent, ' ', false, json::error_handler_t::replace);
}

complaint wrong(const std::string& sentence) {
  return mistake{sentence, {}};
}

complaint at(const std::string& place, complaint x) {
  if (x && !place.empty())
    x->place.push_back(place);
  return x;
}

std::string to_string(const mistake& x) {
  std::string result;
  for (auto i = x.place.rbegin(); i != x.place.rend(); ++i)
    result += (result.empty() ? "" : ", ") + *i;
  return (result.empty() ? "the scenario" : result) + ": " + x.sentence;
}

complaint unknown(const std::string& what, const std::string& name,
                  const std::vector<std::string>& known) {
  auto near = nearest_name(name, known);
  std::string all;
  for (const auto& candidate : known)
    all += (all.empty() ? "`" : ", `") + candidate + "`";
  return wrong("there is no " + what + " `" + name + "`; "
               + (near.empty() ? "there are " + all + "."
                               : "did you mean `" + near + "`?"));
}

} // namespace potluck
