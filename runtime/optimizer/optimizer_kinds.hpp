/// The optimizers that a run may name, and the settings that each has alone.
///
/// Adding one is a file beside `lion.cpp`, which declares it and has its loops,
/// and its line in optimizer_kinds.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/optimizer/optimizer_rule.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

struct optimizer_kind {
  setting_kind declared;
  /// Precondition: each setting is within its limits.
  std::unique_ptr<optimizer_rule> (*make)(const kind_settings& settings);
};

/// In the order of the help.
const std::vector<optimizer_kind>& optimizer_kinds();

/// They, chosen by the setting `optimizer`.
const kind_family& optimizer_family();

/// The settings of the chosen one: its own and those that all have, `schedule`,
/// `decay-except` and `rates`. Outlived by `settings`. Throws std::logic_error
/// when it is unknown, as it is in no charter.
kind_settings optimizer_settings(const run_settings& settings);

/// The rule that the settings name, with their numbers, or the usual ones.
/// Fails with a sentence where there is no such rule, or a number is out of its
/// limits.
expected<std::unique_ptr<optimizer_rule>>
make_rule(const run_settings& settings);

/// The rule called `name` with the usual numbers, but for these, by their
/// settings' names. Fails likewise.
expected<std::unique_ptr<optimizer_rule>>
make_rule(const std::string& name,
          const std::map<std::string, std::string>& numbers = {});

/// What that rule keeps of each parameter (`optimizer_rule::moments`); of none
/// that is known, as many as any does.
unsigned moments_kept(const run_settings& settings);

/// A number that an optimizer declares.
declared_setting optimizer_setting(std::string name, std::string meaning,
                                   declared_setting::real_limits limits,
                                   double usual);

// What several declare alike.
declared_setting beta1_setting(const std::string& meaning, double usual);
declared_setting beta2_setting(const std::string& meaning, double usual);
declared_setting epsilon_setting(double usual);
declared_setting momentum_setting(const std::string& meaning);
declared_setting decay_setting(const std::string& meaning, double usual);

} // namespace potluck
