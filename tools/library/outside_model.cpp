#include "tools/library/outside_model.hpp"

#include "runtime/state/layout_text.hpp"
#include "tools/library/complaint.hpp"

namespace potluck::library {

namespace {

constexpr auto section = "experts";
/// Inputs and gradients of one sample have to fit a call.
constexpr std::uint64_t widest = 1u << 20;
constexpr unsigned long most_layers = 256;

setting_kind tensors_kind() {
  setting_kind result{tensors_model, "a model of a loop outside",
                      expert_settings()};
  result.settings.push_back({"expert-values", section,
                             "Values of a sample that experts take, and give",
                             declared_setting::whole_limits{1, widest},
                             "1024"});
  return result;
}

} // namespace

charter charter_with(const run_settings& settings, const model_layout& layout,
                     const own_artifacts& files,
                     const artifact_folder& folder) {
  auto result = with_own_artifacts(
      {settings, charter_files{{layout_file, to_layout_text(layout)}}}, files,
      folder);
  if (!result)
    throw complaint{result.error()};
  return std::move(*result);
}

std::string difference_from(const charter& run, const model_layout& here) {
  if (!is_tensors_model(run.settings().model))
    return "the run trains the model " + run.settings().model
           + ", which Potluck knows, and not the tensors of an outside loop; "
             "take part with `potluck join`";
  auto there = read_layout_text(run.file(layout_file));
  if (!there)
    return "the run's tensors cannot be read: " + there.error();
  auto difference = layout_difference(here, *there);
  return difference.empty() ? "" : "this model is not the run's: " + difference;
}

const kind_family& outside_models() {
  static const kind_family one{"model", {section}, {tensors_kind()}};
  return one;
}

const kind_families& outside_families() {
  static const auto all = [] {
    auto result = built_in_families();
    result.push_back(&outside_models());
    return result;
  }();
  return all;
}

bool names_experts(const run_settings& settings) {
  const auto found = settings.own.find(section);
  return found != settings.own.end() && !found->second.empty();
}

expected<bool> complete_experts(run_settings& settings) {
  const auto& kind = outside_models().kinds.front();
  complete(settings, {&outside_models()});
  if (auto problem = problem_with(settings, {&outside_models()});
      !problem.empty())
    return failure{problem};
  if (auto problem = problem_with_experts({kind, settings}); !problem.empty())
    return failure{problem};
  return true;
}

expected<called_experts> experts_in(const run_settings& settings,
                                    unsigned long layer) {
  if (!names_experts(settings))
    return failure{"the run's settings name no experts; set `experts` before "
                   "potluck_open, as everybody in the run does"};
  if (layer >= most_layers)
    return failure{"layer is " + std::to_string(layer) + ", but must be 0 to "
                   + std::to_string(most_layers - 1)};
  auto whole = settings;
  if (auto sound = complete_experts(whole); !sound)
    return failure{"the run's experts cannot be called: " + sound.error()};
  const kind_settings own{outside_models().kinds.front(), whole};
  return called_experts{
      layer_of_experts(own, static_cast<std::uint32_t>(layer)),
      own.small("expert-values")};
}

} // namespace potluck::library
