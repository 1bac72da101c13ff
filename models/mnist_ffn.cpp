#include "models/layers.hpp"
#include "models/networks.hpp"

namespace potluck {

namespace {

/// A dense feed-forward classifier of handwritten digits: what the
/// decentralised mixture of experts is held against.
///
/// input -> `layers` times LayerNorm(x + outer(GELU(inner(x)))) -> scores of
/// ten classes.
class mnist_ffn : public network {
public:
  explicit mnist_ffn(const run_settings& settings) : layers_(settings.layers) {
    const auto hidden = settings.hidden_size;
    const auto inner = settings.intermediate_size;
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

  network_output forward(const std::vector<at::Tensor>& parameters,
                         const labelled_batch& batch) const override {
    parameter_reader next(parameters);
    auto x = apply(next.pair(), batch.inputs);
    for (std::uint32_t i = 0; i < layers_; ++i) {
      const auto inner = next.pair();
      const auto outer = next.pair();
      const auto norm = next.pair();
      x = normalize(norm, x + apply(outer, activate(apply(inner, x))));
    }
    const auto output = next.pair();
    next.finish();
    return {apply(output, x), {}};
  }

private:
  std::uint32_t layers_;
};

} // namespace

std::unique_ptr<network> make_mnist_ffn(const run_settings& settings,
                                        const network_surroundings&) {
  return std::make_unique<mnist_ffn>(settings);
}

} // namespace potluck
