#include "models/expert_mixture.hpp"

#include "models/moe/too_few_experts.hpp"

namespace potluck {

namespace {

/// How much an even use of the experts counts against the samples' mean loss.
constexpr double balance_weight = 0.01;

} // namespace

std::string problem_with_mixtures(const kind_settings& settings) {
  if (auto problem = problem_with_experts(settings); !problem.empty())
    return problem;
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
  auto experts_of = layer_of_experts(settings, layer);
  options_.layer = std::move(experts_of.name);
  options_.grid = std::move(experts_of.grid);
  options_.inputs = settings.small("hidden-size");
  options_.k = experts_of.k;
  options_.call_packing = experts_of.packing;
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
