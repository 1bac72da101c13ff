#include "models/albert_parts.hpp"
#include "models/classification.hpp"
#include "models/model_kinds.hpp"
#include "models/text/text_source.hpp"

namespace potluck {

namespace {

/// ALBERT (Lan et al. 2019) for masked language modelling: factorized
/// embeddings and one transformer layer that is applied again and again.
///
/// The computation is that of Hugging Face's `AlbertForMaskedLM` without
/// dropout and without padding: LayerNorm behind each residual sum, GELU by
/// tanh. The layout is the state dict of that model in its order, without
/// `predictions.decoder`, which is tied to the word embeddings and to
/// `predictions.bias`. Initial values are theirs: deviation 0.02 for matrices,
/// 1 for LayerNorm's weights, 0 for biases.
class albert : public network {
public:
  explicit albert(const kind_settings& settings)
      : layers_(settings.small("layers")), heads_(settings.small("heads")) {
    const auto hidden = settings.small("hidden-size");
    const auto inner = settings.small("intermediate-size");
    add_albert_embeddings(layout_, settings);
    add_albert_attention(layout_, settings);
    const layout_section layer{layout_, albert_layer_prefix};
    layer.linear("ffn", inner, hidden);
    layer.linear("ffn_output", hidden, inner);
    add_albert_head(layout_, settings);
  }

  model_loss loss(const model_tensors& parameters,
                  const labelled_batch& batch) const override {
    parameter_reader next(parameters.in_order());
    const albert_embeddings embed(next);
    const albert_attention attend(next);
    const auto inner = next.pair();
    const auto outer = next.pair();
    const albert_head head(next);
    next.finish();

    auto x = embed(batch.inputs);
    for (std::int64_t i = 0; i < layers_; ++i) {
      x = attend(x, batch.inputs.size(0), heads_);
      x = normalize(attend.layer_norm,
                    x + apply(outer, activate(apply(inner, x))));
    }
    return cross_entropy(parameters, head(x, batch.positions, embed.words),
                         batch);
  }

private:
  std::int64_t layers_;
  std::int64_t heads_;
};

std::unique_ptr<network> build_albert(const kind_settings& settings,
                                      const network_surroundings&) {
  return std::make_unique<albert>(settings);
}

} // namespace

model_kind albert_kind() {
  auto settings = albert_settings();
  settings.push_back(model_setting(
      "intermediate-size", "Width of the feed-forward part", {1, 16384}, 512));
  return {"albert",          "a masked language model (Lan et al. 2019)",
          masked_text(),     false,
          settings,          build_albert,
          problem_with_heads};
}

} // namespace potluck
