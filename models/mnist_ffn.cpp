#include "models/classification.hpp"
#include "models/images/image_source.hpp"
#include "models/layers.hpp"
#include "models/model_kinds.hpp"

namespace potluck {

namespace {

/// A dense feed-forward classifier of handwritten digits: what the
/// decentralised mixture of experts is held against.
///
/// input -> `layers` times LayerNorm(x + outer(GELU(inner(x)))) -> scores of
/// ten classes.
class mnist_ffn : public network {
public:
  explicit mnist_ffn(const kind_settings& settings)
      : layers_(settings.small("layers")) {
    const auto hidden = settings.small("hidden-size");
    const auto inner = settings.small("intermediate-size");
    layout_section{layout_, "", fan_in_deviation(mnist_shape::pixels)}.linear(
        "input", hidden, mnist_shape::pixels);
    for (std::uint32_t i = 0; i < layers_; ++i) {
      const auto prefix = "layers." + std::to_string(i) + ".";
      layout_section{layout_, prefix, fan_in_deviation(hidden)}.linear(
          "inner", inner, hidden);
      layout_section{layout_, prefix, fan_in_deviation(inner)}.linear(
          "outer", hidden, inner);
      layout_section{layout_, prefix}.layer_norm("norm", hidden);
    }
    layout_section{layout_, "", fan_in_deviation(hidden)}.linear(
        "output", mnist_shape::classes, hidden);
  }

  model_loss loss(const model_tensors& parameters,
                  const labelled_batch& batch) const override {
    parameter_reader next(parameters.in_order());
    auto x = apply(next.pair(), batch.inputs);
    for (std::uint32_t i = 0; i < layers_; ++i) {
      const auto inner = next.pair();
      const auto outer = next.pair();
      const auto norm = next.pair();
      x = normalize(norm, x + apply(outer, activate(apply(inner, x))));
    }
    const auto output = next.pair();
    next.finish();
    return cross_entropy(parameters, apply(output, x), batch);
  }

private:
  std::uint32_t layers_;
};

std::unique_ptr<network> build_mnist_ffn(const kind_settings& settings,
                                         const network_surroundings&) {
  return std::make_unique<mnist_ffn>(settings);
}

} // namespace

model_kind mnist_ffn_kind() {
  return {
      "mnist-ffn",
      "a classifier of handwritten digits",
      digit_images(),
      false,
      {model_setting("hidden-size", "Width of the layers", {1, 16384}, 128),
       model_setting("intermediate-size", "Width inside of each layer",
                     {1, 16384}, 512),
       model_setting("layers", "Layers between input and output", {1, 128}, 4)},
      build_mnist_ffn};
}

} // namespace potluck
