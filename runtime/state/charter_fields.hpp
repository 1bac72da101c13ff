/// The table behind `run_settings`: one line a field, from which flags, help,
/// parsing, printing, comparison and limits follow.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/state/charter.hpp"

namespace potluck {

struct charter_field {
  struct text_limits {
    std::string run_settings::*member;
    std::size_t longest;                   ///< Characters; the shortest is one.
    std::vector<std::string> choices = {}; ///< Empty: any text.
  };
  template <class Integer>
  struct integer_limits {
    Integer run_settings::*member;
    std::uint64_t low;
    std::uint64_t high; ///< Inclusive.
  };
  struct real_limits {
    double run_settings::*member;
    double low;
    double high;
    bool low_allowed; ///< Whether `low` itself is allowed; else it is not.
    bool high_allowed;
  };

  std::string name;    ///< Also its flag, without the dashes: "target-batch".
  std::string section; ///< Of a manifest (runtime/manifest), where it stands.
  std::string meaning; ///< One line of help.
  std::variant<text_limits, integer_limits<std::uint32_t>,
               integer_limits<std::uint64_t>, real_limits>
      limits;
  /// A charter has no line of the field where this is its value: what all did
  /// before there was the field. So charters that do without a newer setting
  /// stay what they were. Empty: there is a line in every charter.
  std::string unwritten = {};

  bool written(const run_settings& settings) const {
    return unwritten.empty() || print(settings) != unwritten;
  }

  /// The field's value in `settings`; reals in the shortest form that reads
  /// back as the same number.
  std::string print(const run_settings& settings) const;

  /// A sentence when the value in `settings` is outside the limits, else empty.
  std::string problem(const run_settings& settings) const;

  /// Reads `value` into `settings`, which stays as it was on failure.
  expected<bool> assign(run_settings& settings, const std::string& value) const;
};

/// All fields, in declaration order.
const std::vector<charter_field>& charter_fields();

} // namespace potluck
