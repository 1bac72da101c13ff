#include "models/albert.hpp"

#include "models/albert_parts.hpp"

namespace potluck {

albert::albert(const run_settings& settings)
    : layers_(settings.layers), heads_(settings.heads) {
  add_albert_embeddings(layout_, settings);
  add_albert_attention(layout_, settings);
  const layout_section layer{layout_, albert_layer_prefix};
  layer.linear("ffn", settings.intermediate_size, settings.hidden_size);
  layer.linear("ffn_output", settings.hidden_size, settings.intermediate_size);
  add_albert_head(layout_, settings);
}

network_output albert::forward(const std::vector<at::Tensor>& parameters,
                               const labelled_batch& batch) const {
  parameter_reader next(parameters);
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
  return {head(x, batch.positions, embed.words), {}};
}

} // namespace potluck
