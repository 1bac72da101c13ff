#include "models/mnist_dmoe.hpp"

#include "models/mnist_ffn.hpp"

namespace potluck {

mnist_dmoe::mnist_dmoe(const run_settings& settings,
                       const network_surroundings& around) {
  const auto hidden = settings.hidden_size;
  layout_section{layout_, "", fan_in_deviation(mnist_shape::pixels)}.linear(
      "input", hidden, mnist_shape::pixels);
  for (std::uint32_t i = 0; i < settings.layers; ++i)
    mixtures_.emplace_back(settings, i, around.experts).add_to(layout_);
  layout_section{layout_, ""}.layer_norm("norm", hidden);
  layout_section{layout_, "", fan_in_deviation(hidden)}.linear(
      "output", mnist_shape::classes, hidden);
}

network_output mnist_dmoe::forward(const std::vector<at::Tensor>& parameters,
                                   const labelled_batch& batch) const {
  parameter_reader next(parameters);
  auto x = apply(next.pair(), batch.inputs);
  at::Tensor balance;
  for (const auto& mixture : mixtures_)
    x = mixture(next, x, balance);
  const auto norm = next.pair();
  const auto output = next.pair();
  next.finish();
  return {apply(output, normalize(norm, x)), balance};
}

} // namespace potluck
