/// JSON as people write it: comments, numbers with units, and one sentence for
/// every mistake, with its place. Private to this folder and network/.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/expected.hpp"
#include "tools/lab/scenario/scenario_values.hpp"

namespace potluck {

using json_tree = nlohmann::ordered_json;

/// What is wrong, and where: "groups[1].line.upload". Thrown while a tree is
/// read; whoever begins to read turns it into a failure.
struct mistake {
  std::string sentence;
  std::string place;
};

/// @param whole What the sentence is about when it is about no part.
failure failure_of(const mistake& x, const std::string& whole);

[[noreturn]] void wrong(const std::string& sentence);

/// "there is no fault `kil`; did you mean `kill`?"
[[noreturn]] void unknown(const std::string& what, const std::string& name,
                          const std::vector<std::string>& known);

/// Reads something inside of `place`: a member's name, or "[2]".
template <class Read>
void inside(const std::string& place, Read read) {
  try {
    read();
  } catch (mistake& x) {
    const auto joint = x.place.empty() || x.place.front() == '[' ? "" : ".";
    x.place = place + joint + x.place;
    throw;
  }
}

/// From JSON with comments. Refuses a name that stands twice in one object and
/// nesting deeper than any scenario's.
expected<json_tree> read_tree(const std::string& text);

/// As JSON; `indent` negative: on one line.
std::string write_tree(const json_tree& x, int indent = 2);

/// The member of that name; null without one.
const json_tree* find(const json_tree& object, const std::string& name);

// Each of these throws a `mistake` where the tree holds something else.

/// An object that has no other members than these.
void only_members(const json_tree& x, const std::vector<std::string>& known);
bool truth_of(const json_tree& x);
std::string text_of(const json_tree& x);
/// From `low` to `high`, with or without a unit.
double number_of(const json_tree& x, measure kind, double low, double high);
std::size_t whole_of(const json_tree& x, double low, double high);

/// Calls `read` with every entry of a list, and its index.
template <class Read>
void each_of(const json_tree& x, std::size_t most, Read read) {
  if (!x.is_array())
    wrong("it is a list, [ ... ].");
  if (x.size() > most)
    wrong("it has more than " + std::to_string(most) + " entries.");
  for (std::size_t i = 0; i < x.size(); ++i)
    inside("[" + std::to_string(i) + "]", [&] { read(x[i], i); });
}

/// As a person would write it: with a unit, where one fits.
json_tree measured(measure kind, double x);

} // namespace potluck
