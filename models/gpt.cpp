#include <cmath>

#include "models/classification.hpp"
#include "models/layers.hpp"
#include "models/model_kinds.hpp"
#include "models/text/text_source.hpp"

namespace potluck {

namespace {

/// GPT-2 (Radford et al. 2019): a transformer's decoder that predicts the next
/// token.
///
/// The computation is that of Hugging Face's `GPT2LMHeadModel` without dropout:
/// learned positions, LayerNorm before each residual branch and behind the
/// last, GELU by tanh, the head tied to the token embeddings. The layout is the
/// state dict of that model in its order, whose linear maps are stored [in,
/// out]. Initial values are theirs: deviation 0.02, that of the maps into the
/// residual stream divided by the root of their number.
class gpt : public network {
public:
  explicit gpt(const kind_settings& settings)
      : layers_(settings.small("layers")), heads_(settings.small("heads")) {
    const auto hidden = settings.small("hidden-size");
    const auto inner = settings.small("intermediate-size");
    const auto into_stream
        = 0.02f / std::sqrt(2.0f * static_cast<float>(layers_));
    const layout_section all{layout_, "transformer."};
    all.matrix("wte", settings.small("vocabulary"), hidden);
    all.matrix("wpe", settings.small("sequence-length"), hidden);
    for (std::int64_t i = 0; i < layers_; ++i) {
      const layout_section layer{layout_,
                                 "transformer.h." + std::to_string(i) + "."};
      layer.layer_norm("ln_1", hidden);
      const layout_section last{layout_, layer.prefix, into_stream};
      layer.linear("attn.c_attn", 3 * hidden, hidden);
      last.linear("attn.c_proj", hidden, hidden);
      layer.layer_norm("ln_2", hidden);
      layer.linear("mlp.c_fc", inner, hidden);
      last.linear("mlp.c_proj", hidden, inner);
    }
    all.layer_norm("ln_f", hidden);
  }

  model_loss loss(const model_tensors& parameters,
                  const labelled_batch& batch) const override {
    parameter_reader next(parameters.in_order());
    const auto words = next.tensor();
    const auto positions = next.tensor();
    const auto samples = batch.inputs.size(0);
    const auto length = batch.inputs.size(1);
    // The residual stream is float32, whatever the matrices are.
    auto x = (at::embedding(words, batch.inputs).to(at::kFloat)
              + positions.narrow(0, 0, length))
                 .view({samples * length, -1});
    for (std::int64_t i = 0; i < layers_; ++i) {
      auto branch = normalize(next.pair(), x, epsilon);
      branch = attend_to_earlier(apply(next.pair(), branch), samples, heads_);
      x = x + apply(next.pair(), branch);
      branch = normalize(next.pair(), x, epsilon);
      branch = activate(apply(next.pair(), branch));
      x = x + apply(next.pair(), branch);
    }
    x = normalize(next.pair(), x, epsilon);
    next.finish();
    if (batch.positions.defined())
      x = x.index_select(0, batch.positions);
    return cross_entropy(parameters, at::linear(x, words), batch);
  }

private:
  static constexpr double epsilon = 1e-5;

  std::int64_t layers_;
  std::int64_t heads_;
};

std::unique_ptr<network> build_gpt(const kind_settings& settings,
                                   const network_surroundings&) {
  return std::make_unique<gpt>(settings);
}

} // namespace

model_kind gpt_kind() {
  return {"gpt",
          "a causal language model (Radford et al. 2019)",
          running_text(),
          false,
          {model_setting("hidden-size", "Width of the layers", {1, 16384}, 128),
           model_setting("intermediate-size", "Width of the feed-forward part",
                         {1, 16384}, 512),
           model_setting("layers", "Layers", {1, 128}, 4),
           model_setting("heads", "Attention heads; must divide hidden-size",
                         {1, 16384}, 4)},
          build_gpt,
          problem_with_heads};
}

} // namespace potluck
