#include "runtime/state/run_settings.hpp"

#include <optional>
#include <set>

#include "runtime/manifest/organisers.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/tensor_groups.hpp"
#include "runtime/state/charter_fields.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

namespace {

/// Of all kinds together: a `hello` has room for 128 settings and files.
constexpr std::size_t most_own_settings = 64;
/// As in a `hello`.
constexpr std::size_t longest_own_value = 255;

/// Whoever knows the kind says whether the values are right.
std::string problem_with(const own_settings& own) {
  std::set<std::string> names;
  std::size_t count = 0;
  for (const auto& [section, values] : own)
    for (const auto& [name, value] : values) {
      if (own_sections().count(section) == 0)
        return "there is no section of settings called \"" + shown(section)
               + "\"";
      if (!is_setting_name(name) || find_field(name))
        return "\"" + shown(name) + "\" is no name of a setting of a "
               + section;
      if (!names.insert(name).second)
        return name + " is there twice";
      if (!is_setting_text(value, longest_own_value))
        return name + " must be 1 to " + std::to_string(longest_own_value)
               + " printable ASCII characters";
      if (++count > most_own_settings)
        return "there are more than " + std::to_string(most_own_settings)
               + " settings of a model, its data and its optimizer";
    }
  return {};
}

/// Why these settings are none for re-drawn groups; empty: they are.
std::string problem_with_moshpit(const run_settings& settings) {
  const std::string averaging = "averaging moshpit needs ";
  if (settings.delayed_updates())
    return averaging
           + "updates synchronous, for a step's mean replaces the parameters "
             "that delayed batches would still read";
  if (settings.packing != "float32")
    return averaging
           + "packing float32, for parameters are averaged and would be "
             "rounded at every step; packing is "
           + settings.packing;
  if (settings.part_norm > 0)
    return averaging
           + "part-norm 0, for parts hold parameters, whose norm says nothing "
             "of the gradient's";
  if (settings.reserve > 0)
    return averaging
           + "reserve 0, for a group that loses members counts what is left";
  return {};
}

/// The setting's value; that which is not written where there is none.
std::optional<std::string> find(const std::vector<setting>& table,
                                const std::string& name) {
  for (const auto& line : table)
    if (line.name == name)
      return line.value;
  const auto field = find_field(name);
  return field && !field->unwritten.empty() ? std::optional{field->unwritten}
                                            : std::nullopt;
}

} // namespace

digest run_settings::initial_digest() const {
  return parse_id<digest>(initial).value_or(digest{});
}

averaging_rule run_settings::averaging() const {
  averaging_rule rule;
  rule.how = aggregator_from(aggregator).value_or(potluck::aggregator::mean);
  rule.trim = trim;
  rule.clip_radius = clip_radius;
  rule.part_norm = part_norm;
  return rule;
}

expected<bool> assign(run_settings& settings, const std::string& name,
                      const std::string& value) {
  return assign(settings, name, value, built_in_families());
}

std::vector<setting> to_table(const run_settings& settings) {
  auto table = common_table(settings);
  for (const auto& [section, own] : settings.own)
    for (const auto& [name, value] : own)
      table.push_back({name, value});
  return table;
}

expected<admission_rules> admission_rules_of(const run_settings& settings) {
  return read_admission_rules(settings.admission, settings.authority,
                              settings.vouchers);
}

std::string problem_with(const run_settings& settings) {
  for (const auto& field : charter_fields()) {
    auto problem = field.problem(settings);
    if (!problem.empty())
      return problem;
  }
  // Whose key the organiser's is, is in the manifest.
  if (auto others = read_organisers({}, settings.successor); !others)
    return "successor " + others.error();
  if (settings.initial != "seed" && settings.initial_digest().empty())
    return "initial is '" + settings.initial
           + "', but must be seed, or a state's digest of 32 hex digits";
  if (auto problem = problem_with(settings.own); !problem.empty())
    return problem;
  auto whole = settings; // What is not said is as usual.
  complete(whole, built_in_families());
  if (auto problem = problem_with(whole, built_in_families()); !problem.empty())
    return problem;
  const auto of_optimizer = optimizer_settings(settings);
  if (auto groups = tensor_groups::read(of_optimizer.text("decay-except"),
                                        of_optimizer.text("rates"));
      !groups)
    return groups.error();
  if (auto rules = admission_rules_of(settings); !rules)
    return rules.error();
  if (settings.redraws_groups())
    if (auto problem = problem_with_moshpit(settings); !problem.empty())
      return problem;
  if (settings.warmup_steps > settings.steps)
    return "warmup-steps is " + std::to_string(settings.warmup_steps)
           + ", but must be at most steps, which is "
           + std::to_string(settings.steps);
  return {};
}

std::string differences(const std::vector<setting>& here,
                        const std::vector<setting>& there) {
  std::string result;
  std::set<std::string> compared;
  for (const auto* table : {&here, &there})
    for (const auto& line : *table) {
      if (!compared.insert(line.name).second)
        continue;
      auto a = find(here, line.name);
      auto b = find(there, line.name);
      if (a == b)
        continue;
      if (!result.empty())
        result += "; ";
      result += shown(line.name) + " is " + (a ? shown(*a) : "missing")
                + " here and " + (b ? shown(*b) : "missing") + " there";
    }
  return result;
}

} // namespace potluck
