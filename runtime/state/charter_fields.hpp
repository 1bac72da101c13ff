/// The table behind `run_settings`: one line a setting that every run has.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/state/declared_setting.hpp"
#include "runtime/state/run_settings.hpp"

namespace potluck {

/// A setting that is a member of `run_settings`.
struct charter_field : declared_setting {
  std::variant<std::string run_settings::*, std::uint32_t run_settings::*,
               std::uint64_t run_settings::*, double run_settings::*>
      member;
  /// A charter has no line of the field where this is its value: what all did
  /// before there was the field. So charters that do without a newer setting
  /// stay what they were. Empty: there is a line in every charter.
  std::string unwritten = {};

  bool written(const run_settings& settings) const {
    return unwritten.empty() || print(settings) != unwritten;
  }

  /// The field's value in `settings`, as `read` gives it.
  std::string print(const run_settings& settings) const;

  /// A sentence when the value in `settings` is outside the limits, else empty.
  std::string problem(const run_settings& settings) const;

  /// Reads `value` into `settings`, which stays as it was on failure.
  expected<bool> assign(run_settings& settings, const std::string& value) const;
};

/// All fields, in declaration order.
const std::vector<charter_field>& charter_fields();

/// Null when there is none of this name.
const charter_field* find_field(const std::string& name);

/// What is written of these settings, as `{name, text}`, in declaration order.
std::vector<setting> common_table(const run_settings& settings);

/// Sets what a charter may leave out to what that means.
void set_unwritten(run_settings& settings);

} // namespace potluck
