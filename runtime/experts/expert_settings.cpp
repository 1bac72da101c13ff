#include "runtime/experts/expert_settings.hpp"

#include "runtime/experts/expert_uid.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

std::vector<declared_setting> expert_settings() {
  using text = declared_setting::text_limits;
  const std::string section = "experts";
  return {{"experts", section,
           "Name of the experts that layers of a mixture call", text{}, "ffn"},
          {"expert-grid", section,
           "How many experts such a layer has in each dimension", text{},
           "4x4"},
          {"experts-per-sample", section,
           "Experts that such a layer calls for a sample",
           declared_setting::whole_limits{1, 256}, "4"},
          {"call-packing", section,
           "How values travel to experts and back: float32, float16, bfloat16 "
           "or int8",
           text{64, {"float32", "float16", "bfloat16", "int8"}}, "float32"}};
}

std::string problem_with_experts(const kind_settings& settings) {
  auto grid = parse_expert_grid(settings.text("expert-grid"));
  if (!grid)
    return "expert-grid: " + grid.error();
  auto first = settings.text("experts") + ".0";
  for (std::size_t i = 0; i < grid->size(); ++i)
    first += ".0";
  if (auto uid = parse_expert_uid(first); !uid)
    return "experts: " + uid.error();
  std::uint64_t experts = 1;
  for (auto size : *grid)
    experts *= size;
  const auto called = settings.whole("experts-per-sample");
  if (called > experts)
    return "experts-per-sample is " + std::to_string(called)
           + ", but expert-grid has room for " + std::to_string(experts);
  return "";
}

expert_layer layer_of_experts(const kind_settings& settings,
                              std::uint32_t number) {
  const auto grid = parse_expert_grid(settings.text("expert-grid"));
  return {
      settings.text("experts") + "." + std::to_string(number),
      grid ? *grid : std::vector<std::uint32_t>{1},
      settings.small("experts-per-sample"),
      packing_named(settings.text("call-packing")).value_or(packing::float32)};
}

} // namespace potluck
