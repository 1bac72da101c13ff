/// Which tensors do not decay, and which learn at a rate of their own: by
/// patterns of their names.
///
/// A list is separated by commas; `*` stands for any characters, none
/// included; "none" is the empty list.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/optimizer/optimizer_rule.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Whether the whole of `name` is as `pattern` says.
bool matches(const std::string& pattern, const std::string& name);

class tensor_groups {
public:
  /// @param decay_except Patterns, "*bias,*norm*": these tensors do not decay,
  ///        like those of which the layout says so.
  /// @param rates Patterns with a factor of the run's rate, from 0 on,
  ///        "head.*:10,embedding*:0.1"; the first that matches counts.
  /// Fails with a sentence that names the list.
  static expected<tensor_groups> read(const std::string& decay_except,
                                      const std::string& rates);

  /// Terms of each tensor, in the layout's order. Fails where a pattern is
  /// that of no tensor.
  expected<std::vector<tensor_terms>> terms(const model_layout& layout) const;

private:
  struct rate_group {
    std::string pattern;
    double rate;
  };
  std::vector<std::string> decay_except_;
  std::vector<rate_group> rates_;
};

} // namespace potluck
