#include "models/classification.hpp"
#include "models/expert_mixture.hpp"
#include "models/images/image_source.hpp"
#include "models/model_kinds.hpp"

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
  mnist_dmoe(const kind_settings& settings,
             const network_surroundings& around) {
    const auto hidden = settings.small("hidden-size");
    layout_section{layout_, "", fan_in_deviation(mnist_shape::pixels)}.linear(
        "input", hidden, mnist_shape::pixels);
    for (std::uint32_t i = 0; i < settings.small("layers"); ++i)
      mixtures_.emplace_back(settings, i, around.experts).add_to(layout_);
    layout_section{layout_, ""}.layer_norm("norm", hidden);
    layout_section{layout_, "", fan_in_deviation(hidden)}.linear(
        "output", mnist_shape::classes, hidden);
  }

  model_loss loss(const model_tensors& parameters,
                  const labelled_batch& batch) const override {
    parameter_reader next(parameters.in_order());
    auto x = apply(next.pair(), batch.inputs);
    at::Tensor balance;
    for (const auto& mixture : mixtures_)
      x = mixture(next, x, balance);
    const auto norm = next.pair();
    const auto output = next.pair();
    next.finish();
    return cross_entropy(parameters, apply(output, normalize(norm, x)), batch,
                         balance);
  }

private:
  std::vector<expert_mixture> mixtures_;
};

std::unique_ptr<network> build_mnist_dmoe(const kind_settings& settings,
                                          const network_surroundings& around) {
  return std::make_unique<mnist_dmoe>(settings, around);
}

} // namespace

model_kind mnist_dmoe_kind() {
  return {"mnist-dmoe",
          "a classifier of digits with a mixture of experts on other machines",
          digit_images(),
          true,
          {model_setting("hidden-size", "Width of the layers", {1, 16384}, 128),
           model_setting("layers", "Mixtures between input and output",
                         {1, 128}, 4)},
          build_mnist_dmoe};
}

} // namespace potluck
