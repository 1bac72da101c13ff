/// One setting of a run as it is declared: its name, what it may be, and what
/// it is where nobody says.
///
/// Flags, help, parsing, printing and limits follow from it, whether the
/// setting is every run's (`charter_fields`) or that of one kind of model,
/// source or optimizer (`setting_kinds.hpp`).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

struct declared_setting {
  struct text_limits {
    std::size_t longest = 64;              ///< Characters; the shortest is one.
    std::vector<std::string> choices = {}; ///< Empty: any text.
  };
  struct whole_limits {
    std::uint64_t low;
    std::uint64_t high; ///< Inclusive.
  };
  struct real_limits {
    double low;
    double high;
    bool low_allowed; ///< Whether `low` itself is allowed; else it is not.
    bool high_allowed;
  };

  /// 1 to 32 small letters, digits and dashes; also its flag, without the
  /// dashes in front: "target-batch".
  std::string name;
  std::string section; ///< Of a manifest (runtime/manifest), where it stands.
  std::string meaning; ///< One line of help.
  std::variant<text_limits, whole_limits, real_limits> limits;
  std::string usual = {}; ///< Its value where none is given.

  /// The value as all write it: numbers have one form each, reals the shortest
  /// that reads back as the same number. Fails with a sentence that begins with
  /// the setting's name when the value is outside the limits.
  expected<std::string> read(const std::string& value) const;
};

/// 1 to 32 small letters, digits and dashes: names of settings, of sections.
bool is_setting_name(const std::string& x);

/// 1 to `longest` printable ASCII characters.
bool is_setting_text(const std::string& x, std::size_t longest);

/// Text of another peer, made safe and short for a terminal.
std::string shown(const std::string& text);

/// What `declared_setting::read` has left as a whole number or a real.
std::uint64_t whole_in(const std::string& value);
double real_in(const std::string& value);

/// As `declared_setting::read` writes reals.
std::string print_real(double x);

} // namespace potluck
