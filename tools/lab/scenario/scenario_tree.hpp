/// A file's content before it means anything, and complaints about it. Private
/// to this folder and lines/.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

/// One JSON value.
struct scenario_value {
  enum class what { nothing, truth, number, text, list, object };
  what kind = what::nothing;
  bool truth = false;
  double number = 0;
  std::string text; ///< Of a number: its digits.
  /// Entries of a list (without names) or members of an object, in order.
  std::vector<std::pair<std::string, scenario_value>> members;

  static scenario_value of(bool x);
  static scenario_value of(double x);
  static scenario_value of(const std::string& x);
  static scenario_value of(const char* x);
  static scenario_value empty(what kind);

  /// The member of that name, or null.
  const scenario_value* find(const std::string& name) const;
  /// Adds a member (its name is "" in a list).
  void add(const std::string& name, scenario_value x);
};

/// From JSON with comments. Refuses a name that stands twice in one object and
/// nesting deeper than any scenario's.
expected<scenario_value> read_tree(const std::string& text);

/// As JSON; `indent` negative: on one line.
std::string write_tree(const scenario_value& x, int indent = 2);

/// A mistake: what is wrong, and where, the innermost first.
struct mistake {
  std::string sentence;
  std::vector<std::string> place;
};
using complaint = std::optional<mistake>;

complaint wrong(const std::string& sentence);
/// The same complaint, about something inside of `place`.
complaint at(const std::string& place, complaint x);
/// "faults, entry 3: there is no fault ..."
std::string to_string(const mistake& x);
/// "there is no fault `kil`; did you mean `kill`?"
complaint unknown(const std::string& what, const std::string& name,
                  const std::vector<std::string>& known);

} // namespace potluck
