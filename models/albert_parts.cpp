#include "models/albert_parts.hpp"

namespace potluck {

void add_albert_embeddings(model_layout& layout, const run_settings& x) {
  const layout_section embeddings{layout, "albert.embeddings."};
  embeddings.matrix("word_embeddings", x.vocabulary, x.embedding_size);
  embeddings.matrix("position_embeddings", x.sequence_length, x.embedding_size);
  embeddings.matrix("token_type_embeddings", 2, x.embedding_size);
  embeddings.layer_norm("LayerNorm", x.embedding_size);
  layout_section{layout, "albert.encoder."}.linear(
      "embedding_hidden_mapping_in", x.hidden_size, x.embedding_size);
}

void add_albert_attention(model_layout& layout, const run_settings& x) {
  const layout_section layer{layout, albert_layer_prefix};
  layer.layer_norm("full_layer_layer_norm", x.hidden_size);
  layer.linear("attention.query", x.hidden_size, x.hidden_size);
  layer.linear("attention.key", x.hidden_size, x.hidden_size);
  layer.linear("attention.value", x.hidden_size, x.hidden_size);
  layer.linear("attention.dense", x.hidden_size, x.hidden_size);
  layer.layer_norm("attention.LayerNorm", x.hidden_size);
}

void add_albert_head(model_layout& layout, const run_settings& x) {
  const layout_section predictions{layout, "predictions."};
  layout.add("predictions.bias", {x.vocabulary}, false, 0, 0);
  predictions.layer_norm("LayerNorm", x.embedding_size);
  predictions.linear("dense", x.embedding_size, x.hidden_size);
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
