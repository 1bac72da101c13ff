#include "models/expert_mixture.hpp"
#include "models/networks.hpp"

namespace potluck {

namespace {

/// The classifier of handwritten digits that Learning@home was tried with
/// (Ryabinin and Gusev 2020, section 4.2): layers of decentralised mixtures of
/// experts between two linear maps.
///
/// input -> `layers` times x + mixture(LayerNorm(x)) -> LayerNorm -> scores of
/// ten classes.
class mnist_dmoe : public network {
public:
  mnist_dmoe(const run_settings& settings, const network_surroundings& around) {
    const auto hidden = settings.hidden_size;
    layout_section{layout_, "", fan_in_deviation(mnist_shape::pixels)}.linear(
        "input", hidden, mnist_shape::pixels);
    for (std::uint32_t i = 0; i < settings.layers; ++i)
      mixtures_.emplace_back(settings, i, around.experts).add_to(layout_);
    layout_section{layout_, ""}.layer_norm("norm", hidden);
    layout_section{layout_, "", fan_in_deviation(hidden)}.linear(
        "output", mnist_shape::classes, hidden);
  }

  network_output forward(const std::vector<at::Tensor>& parameters,
                         const labelled_batch& batch) const override {
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

private:
  std::vector<expert_mixture> mixtures_;
};

} // namespace

std::unique_ptr<network> make_mnist_dmoe(const run_settings& settings,
                                         const network_surroundings& around) {
  return std::make_unique<mnist_dmoe>(settings, around);
}

} // namespace potluck
