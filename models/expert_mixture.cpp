#include "models/expert_mixture.hpp"

#include "models/moe/too_few_experts.hpp"
#include "runtime/experts/expert_uid.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

/// How much an even use of the experts counts against the samples' mean loss.
constexpr double balance_weight = 0.01;

std::string name_of_layer(const run_settings& settings, std::uint32_t layer) {
  return settings.experts + "." + std::to_string(layer);
}

std::vector<std::uint32_t> grid_of(const run_settings& settings) {
  auto grid = parse_expert_grid(settings.expert_grid);
  return grid ? *grid : std::vector<std::uint32_t>{1};
}

} // namespace

std::string problem_with_experts(const run_settings& settings) {
  auto grid = parse_expert_grid(settings.expert_grid);
  if (!grid)
    return "expert-grid: " + grid.error();
  auto first = settings.experts + ".0";
  for (std::size_t i = 0; i < grid->size(); ++i)
    first += ".0";
  if (auto uid = parse_expert_uid(first); !uid)
    return "experts: " + uid.error();
  std::uint64_t experts = 1;
  for (auto size : *grid)
    experts *= size;
  if (settings.experts_per_sample > experts)
    return "experts-per-sample is "
           + std::to_string(settings.experts_per_sample)
           + ", but expert-grid has room for " + std::to_string(experts);
  if (settings.layers > 256)
    return "layers is " + std::to_string(settings.layers)
           + ", but experts' names have room for 256";
  return "";
}

expert_mixture::expert_mixture(const run_settings& settings,
                               std::uint32_t layer,
                               std::shared_ptr<expert_network> experts)
    : layer_(layer), experts_(std::move(experts)) {
  options_.layer = name_of_layer(settings, layer);
  options_.grid = grid_of(settings);
  options_.inputs = settings.hidden_size;
  options_.k = settings.experts_per_sample;
  options_.call_packing
      = packing_named(settings.call_packing).value_or(packing::float32);
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
