#include "models/albert_parts.hpp"

namespace potluck {

std::vector<declared_setting> albert_settings() {
  return {
      model_setting("embedding-size", "Width of the token embeddings",
                    {1, 16384}, 64),
      model_setting("hidden-size", "Width of the layers", {1, 16384}, 128),
      model_setting("layers", "Applications of the shared layer", {1, 128}, 4),
      model_setting("heads", "Attention heads; must divide hidden-size",
                    {1, 16384}, 4)};
}

void add_albert_embeddings(model_layout& layout,
                           const kind_settings& settings) {
  const auto vocabulary = settings.small("vocabulary");
  const auto length = settings.small("sequence-length");
  const auto width = settings.small("embedding-size");
  const layout_section embeddings{layout, "albert.embeddings."};
  embeddings.matrix("word_embeddings", vocabulary, width);
  embeddings.matrix("position_embeddings", length, width);
  embeddings.matrix("token_type_embeddings", 2, width);
  embeddings.layer_norm("LayerNorm", width);
  layout_section{layout, "albert.encoder."}.linear(
      "embedding_hidden_mapping_in", settings.small("hidden-size"), width);
}

void add_albert_attention(model_layout& layout, const kind_settings& settings) {
  const auto hidden = settings.small("hidden-size");
  const layout_section layer{layout, albert_layer_prefix};
  layer.layer_norm("full_layer_layer_norm", hidden);
  layer.linear("attention.query", hidden, hidden);
  layer.linear("attention.key", hidden, hidden);
  layer.linear("attention.value", hidden, hidden);
  layer.linear("attention.dense", hidden, hidden);
  layer.layer_norm("attention.LayerNorm", hidden);
}

void add_albert_head(model_layout& layout, const kind_settings& settings) {
  const auto width = settings.small("embedding-size");
  const layout_section predictions{layout, "predictions."};
  layout.add("predictions.bias", {settings.small("vocabulary")}, false, 0, 0);
  predictions.layer_norm("LayerNorm", width);
  predictions.linear("dense", width, settings.small("hidden-size"));
}

albert_embeddings::albert_embeddings(parameter_reader& next) {
  for (auto* x : {&words, &positions, &types})
    *x = next.tensor();
  norm = next.pair();
  mapping_in = next.pair();
}

at::Tensor albert_embeddings::operator()(const at::Tensor& tokens) const {
  const auto length = tokens.size(1);
  const auto x = at::embedding(words, tokens)
                 + (positions.narrow(0, 0, length) + types.select(0, 0));
  return apply(mapping_in,
               normalize(norm, x).view({tokens.size(0) * length, -1}));
}

albert_attention::albert_attention(parameter_reader& next) {
  layer_norm = next.pair();
  const auto query = next.pair();
  const auto key = next.pair();
  const auto value = next.pair();
  qkv = {at::cat({query.weight, key.weight, value.weight}),
         at::cat({query.bias, key.bias, value.bias})};
  dense = next.pair();
  norm = next.pair();
}

at::Tensor albert_attention::operator()(const at::Tensor& x, std::int64_t batch,
                                        std::int64_t heads) const {
  return normalize(norm, x + apply(dense, attend(qkv, x, batch, heads)));
}

albert_head::albert_head(parameter_reader& next) {
  bias = next.tensor();
  norm = next.pair();
  dense = next.pair();
}

at::Tensor albert_head::operator()(const at::Tensor& x,
                                   const at::Tensor& positions,
                                   const at::Tensor& words) const {
  const auto chosen = x.index_select(0, positions);
  return at::linear(normalize(norm, activate(apply(dense, chosen))), words,
                    bias);
}

} // namespace potluck
