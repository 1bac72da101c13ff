#include "tools/examples/own_model/autoencoder.hpp"

#include "models/images/image_source.hpp"
#include "models/layers.hpp"

using namespace potluck;

namespace {

/// Digits through a narrow layer and back: batch norm, dropout, and the squared
/// error of the pixels.
class autoencoder : public network {
public:
  explicit autoencoder(const kind_settings& settings) {
    const auto width = settings.small("code-width");
    const layout_section into{layout_, "", fan_in_deviation(pixels)};
    into.linear("encode", width, pixels);
    into.batch_norm(buffers_, "norm", width);
    const layout_section back{layout_, "", fan_in_deviation(width)};
    back.linear("decode", pixels, width);
  }

  model_loss loss(const model_tensors& x,
                  const labelled_batch& batch) const override {
    const auto seen = dropout(x, batch.inputs, 0.1);
    const auto code = at::linear(seen, x["encode.weight"], x["encode.bias"]);
    const auto drawn = at::linear(at::relu(batch_norm(x, "norm", code)),
                                  x["decode.weight"], x["decode.bias"]);
    const auto error = drawn.to(at::kFloat) - batch.inputs;
    return {error.square().mean(1).sum(), {}, {}};
  }

private:
  static constexpr auto pixels = mnist_shape::pixels;
};

std::unique_ptr<network> build(const kind_settings& settings,
                               const network_surroundings&) {
  return std::make_unique<autoencoder>(settings);
}

} // namespace

model_kind autoencoder_kind() {
  model_kind x;
  x.name = "autoencoder";
  x.meaning = "digits through a narrow layer";
  x.source = digit_images();
  x.settings = {model_setting("code-width", "Width of it", {1, 1024}, 32)};
  x.build = build;
  x.has_buffers = true;
  return x;
}
