#include "tools/potluck/settings_options.hpp"

#include <algorithm>

#include "runtime/state/charter_fields.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;
using cli::option_spec;

option_spec option_of(const declared_setting& x) {
  return {x.name, option_kind::text, x.usual, x.meaning + ".", "VALUE"};
}

/// What a family's kinds are, for the help of the option that chooses one.
std::string choices_in(const kind_family& family) {
  std::string result = ": ";
  for (const auto& kind : family.kinds)
    result += (result.size() > 2 ? "; " : "")
              + (kind.suffix.empty() ? kind.name : "FILE" + kind.suffix) + ", "
              + kind.meaning;
  return result + ". With it, --help shows what it alone has";
}

/// Adds one option of a kind, or the kind to those of an equal option.
void add(std::vector<option_spec>& all, const declared_setting& x,
         const std::string& chooser, const setting_kind& kind) {
  std::vector<std::string> words{kind.name};
  if (!kind.suffix.empty())
    words.push_back("*" + kind.suffix);
  auto option = option_of(x);
  for (auto& other : all)
    if (other.name == option.name && other.help == option.help
        && other.default_text == option.default_text && other.only_with) {
      auto& values = other.only_with->values;
      values.insert(values.end(), words.begin(), words.end());
      return;
    }
  option.only_with = {chooser, std::move(words)};
  all.push_back(std::move(option));
}

/// What the option of this name has, as a setting: a kind's name for its file.
std::string value_of(const cli::command_line& options,
                     const std::string& name) {
  for (const auto* family : kinds_here())
    if (family->chooser == name)
      return family->named_by(options.text(name));
  return options.text(name);
}

/// The settings that the chosen kinds have.
std::vector<declared_setting> of_chosen(const run_settings& settings) {
  std::vector<declared_setting> result;
  for (const auto* family : kinds_here())
    if (const auto kind = family->chosen(settings))
      result.insert(result.end(), kind->settings.begin(), kind->settings.end());
  return result;
}

/// As far as the options say: every run's settings.
expected<run_settings> common_from(const cli::command_line& options,
                                   const std::vector<setting>& instead) {
  run_settings settings;
  for (const auto& field : charter_fields()) {
    const auto other
        = std::find_if(instead.begin(), instead.end(),
                       [&](auto& x) { return x.name == field.name; });
    auto done = field.assign(settings, other != instead.end()
                                           ? other->value
                                           : value_of(options, field.name));
    if (!done)
      return failure{"--" + done.error()};
  }
  return settings;
}

} // namespace

std::vector<option_spec> settings_options() {
  std::vector<option_spec> result;
  for (auto x : charter_fields()) {
    for (const auto* family : kinds_here())
      if (family->chooser == x.name)
        x.meaning += choices_in(*family);
    result.push_back(option_of(x));
  }
  std::vector<option_spec> own;
  for (const auto* family : kinds_here())
    for (const auto& kind : family->kinds)
      for (const auto& x : kind.settings)
        add(own, x, family->chooser, kind);
  result.insert(result.end(), own.begin(), own.end());
  return result;
}

expected<run_settings> settings_from(const cli::command_line& options,
                                     const std::vector<setting>& instead) {
  auto settings = common_from(options, instead);
  if (!settings)
    return settings;
  for (const auto& x : of_chosen(*settings)) {
    auto value = x.read(options.text(x.name));
    if (!value)
      return failure{"--" + value.error()};
    settings->own[x.section][x.name] = std::move(*value);
  }
  if (!options.given("warmup-steps"))
    settings->warmup_steps
        = std::min(settings->warmup_steps,
                   std::max<std::uint64_t>(1, settings->steps / 10));
  if (auto problem = problem_with(*settings); !problem.empty())
    return failure{problem};
  return settings;
}

std::vector<setting> demanded_settings(const cli::command_line& options) {
  std::vector<setting> result;
  auto demand = [&](const declared_setting& x) {
    if (x.name == "run" || !options.given(x.name))
      return;
    // As the charter prints it, so that 1e-3 equals 0.001.
    if (auto value = x.read(value_of(options, x.name)))
      result.push_back({x.name, std::move(*value)});
  };
  for (const auto& field : charter_fields())
    demand(field);
  // Whose name it is does not matter here, and not every command asks for it.
  const run_settings any;
  if (const auto settings = common_from(options, {{"run", any.run}}))
    for (const auto& x : of_chosen(*settings))
      demand(x);
  return result;
}

} // namespace potluck::tools
