#include "models/expert_mixture.hpp"

#include "models/moe/too_few_experts.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

/// How much an even use of the experts counts against the samples' mean loss.
constexpr double balance_weight = 0.01;

std::vector<std::uint32_t> grid_of(const kind_settings& settings) {
  auto grid = parse_expert_grid(settings.text("expert-grid"));
  return grid ? *grid : std::vector<std::uint32_t>{1};
}

} // namespace

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
  const auto layers = settings.whole("layers");
  if (layers > 256)
    return "layers is " + std::to_string(layers)
           + ", but experts' names have room for 256";
  return "";
}

expert_mixture::expert_mixture(const kind_settings& settings,
                               std::uint32_t layer,
                               std::shared_ptr<expert_network> experts)
    : layer_(layer), experts_(std::move(experts)) {
  options_.layer = settings.text("experts") + "." + std::to_string(layer);
  options_.grid = grid_of(settings);
  options_.inputs = settings.small("hidden-size");
  options_.k = settings.small("experts-per-sample");
  options_.call_packing
      = packing_named(settings.text("call-packing")).value_or(packing::float32);
  options_.zero_when_too_few = true;
}

void expert_mixture::add_to(model_layout& layout) const {
  const layout_section gates{
      layout, "mixtures." + std::to_string(layer_) + ".gates.",
      fan_in_deviation(static_cast<std::uint32_t>(options_.inputs))};
  for (std::size_t i = 0; i < options_.grid.size(); ++i)
    gates.linear(std::to_string(i), options_.grid[i], options_.inputs);
}

at::Tensor expert_mixture::operator()(parameter_reader& next,
                                      const at::Tensor& x,
                                      at::Tensor& balance) const {
  if (!experts_)
    throw std::logic_error("a network with experts was made without them");
  std::vector<at::Tensor> gating;
  for (std::size_t i = 0; i < 2 * options_.grid.size(); ++i)
    gating.push_back(next.tensor());
  const auto even = at::layer_norm(x, {x.size(-1)});
  const auto mixed = mix_experts(options_, *experts_, gating, even);
  const auto weighed = mixed.balance_loss * balance_weight;
  balance = balance.defined() ? balance + weighed : weighed;
  return x + mixed.values;
}

} // namespace potluck
