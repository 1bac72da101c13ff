#include "models/albert_dmoe.hpp"

#include "models/albert_parts.hpp"

namespace potluck {

albert_dmoe::albert_dmoe(const run_settings& settings,
                         const network_surroundings& around)
    : heads_(settings.heads) {
  add_albert_embeddings(layout_, settings);
  add_albert_attention(layout_, settings);
  for (std::uint32_t i = 0; i < settings.layers; ++i)
    mixtures_.emplace_back(settings, i, around.experts).add_to(layout_);
  add_albert_head(layout_, settings);
}

network_output albert_dmoe::forward(const std::vector<at::Tensor>& parameters,
                                    const labelled_batch& batch) const {
  parameter_reader next(parameters);
  const albert_embeddings embed(next);
  const albert_attention attend(next);
  auto x = embed(batch.inputs);
  at::Tensor balance;
  for (const auto& mixture : mixtures_)
    x = normalize(
        attend.layer_norm,
        mixture(next, attend(x, batch.inputs.size(0), heads_), balance));
  const albert_head head(next);
  next.finish();
  return {head(x, batch.positions, embed.words), balance};
}

} // namespace potluck
