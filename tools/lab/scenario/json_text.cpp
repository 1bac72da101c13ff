#include "tools/lab/scenario/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/nearest_name.hpp"

namespace potluck {

namespace {

/// A scenario has a dozen at most: {groups: [{line: {delay: {uniform: []}}}]}.
constexpr int deepest = 16;

std::string shown(measure kind, double x) {
  auto text = print_measure(kind, x);
  return text.empty() ? print_number(x) : text;
}

/// Behind "[json.exception.parse_error.101] ".
std::string plain(const std::string& text) {
  auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

} // namespace

failure failure_of(const mistake& x, const std::string& whole) {
  return failure{(x.place.empty() ? whole : x.place) + ": " + x.sentence};
}

void wrong(const std::string& sentence) {
  throw mistake{sentence, {}};
}

void unknown(const std::string& what, const std::string& name,
             const std::vector<std::string>& known) {
  auto near = nearest_name(name, known);
  std::string all;
  for (const auto& candidate : known)
    all += (all.empty() ? "`" : ", `") + candidate + "`";
  wrong("there is no " + what + " `" + name + "`; "
        + (near.empty() ? "there are " + all + "."
                        : "did you mean `" + near + "`?"));
}

expected<json_tree> read_tree(const std::string& text) {
  std::vector<std::set<std::string>> open; ///< Names of the objects around.
  std::string trouble;
  auto watch
      = [&](int depth, json_tree::parse_event_t event, json_tree& parsed) {
          using e = json_tree::parse_event_t;
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
    auto result = json_tree::parse(text, watch, true, true);
    if (!trouble.empty())
      return failure{trouble};
    return result;
  } catch (const json_tree::exception& problem) {
    return failure{"This is not JSON: " + plain(problem.what()) + "."};
  }
}

std::string write_tree(const json_tree& x, int indent) {
  return x.dump(indent, ' ', false, json_tree::error_handler_t::replace);
}

const json_tree* find(const json_tree& object, const std::string& name) {
  auto i = object.find(name);
  return i == object.end() ? nullptr : &*i;
}

void only_members(const json_tree& x, const std::vector<std::string>& known) {
  if (!x.is_object())
    wrong("it is an object, { ... }.");
  for (const auto& [name, value] : x.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      unknown("field", name, known);
}

bool truth_of(const json_tree& x) {
  if (!x.is_boolean())
    wrong("it is true or false.");
  return x.get<bool>();
}

std::string text_of(const json_tree& x) {
  if (!x.is_string())
    wrong("it is a text, between double quotes.");
  return x.get<std::string>();
}

double number_of(const json_tree& x, measure kind, double low, double high) {
  double result = 0;
  if (x.is_number()) {
    result = x.get<double>();
  } else if (x.is_string() && kind != measure::plain) {
    auto read = read_measure(kind, x.get<std::string>());
    if (!read)
      wrong(read.error());
    result = *read;
  } else {
    wrong(write_tree(x, -1).substr(0, 60) + " is not understood; write "
          + example_of(kind) + ".");
  }
  if (!(result >= low && result <= high))
    wrong(shown(kind, result) + " is out of range; it can be "
          + shown(kind, low) + " to " + shown(kind, high) + ".");
  return result;
}

std::size_t whole_of(const json_tree& x, double low, double high) {
  const auto result = number_of(x, measure::plain, low, high);
  if (result != std::floor(result))
    wrong(print_number(result) + " is not a whole number.");
  return static_cast<std::size_t>(result);
}

json_tree measured(measure kind, double x) {
  auto text = print_measure(kind, x);
  return text.empty() ? json_tree::parse(print_number(x)) : json_tree(text);
}

} // namespace potluck
