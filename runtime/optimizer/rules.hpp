/// The optimizers that a run may name, and the numbers that each goes by.
///
/// Adding one is a file beside `lion.cpp`, which describes it and has its
/// loops, and its line in rules.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/optimizer/optimizer_rule.hpp"

namespace potluck {

/// By name, as `optimizer_kind::numbers` lists them.
using rule_numbers = std::map<std::string, double>;

struct rule_number {
  std::string name;
  double usual;
  double least;
  double below; ///< Must be less.
  std::string meaning;
};

struct optimizer_kind {
  std::string name;
  std::string meaning; ///< For people, with its source.
  std::vector<rule_number> numbers;
  /// `numbers` has all of them, within their limits.
  std::unique_ptr<optimizer_rule> (*make)(const rule_numbers& numbers);
};

/// In the order of the help.
const std::vector<const optimizer_kind*>& optimizer_kinds();

/// Null when there is none of that name.
const optimizer_kind* find_optimizer(const std::string& name);

/// The rule called `name`, with `numbers` in place of the usual ones. Fails
/// with a sentence where there is no such rule or number, or it is out of its
/// limits.
expected<std::unique_ptr<optimizer_rule>>
make_rule(const std::string& name, const rule_numbers& numbers = {});

} // namespace potluck
