#include "models/albert_parts.hpp"
#include "models/classification.hpp"
#include "models/expert_mixture.hpp"
#include "models/model_kinds.hpp"
#include "models/text/text_source.hpp"

namespace potluck {

namespace {

/// A masked language model whose attention is averaged among trainers and whose
/// feed-forward parts are experts on other machines: ALBERT (models/albert)
/// with a decentralised mixture of experts for each token, one in every layer.
class albert_dmoe : public network {
public:
  albert_dmoe(const kind_settings& settings, const network_surroundings& around)
      : heads_(settings.small("heads")) {
    add_albert_embeddings(layout_, settings);
    add_albert_attention(layout_, settings);
    for (std::uint32_t i = 0; i < settings.small("layers"); ++i)
      mixtures_.emplace_back(settings, i, around.experts).add_to(layout_);
    add_albert_head(layout_, settings);
  }

  model_loss loss(const model_tensors& parameters,
                  const labelled_batch& batch) const override {
    parameter_reader next(parameters.in_order());
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
    return cross_entropy(parameters, head(x, batch.positions, embed.words),
                         batch, balance);
  }

private:
  std::vector<expert_mixture> mixtures_;
  std::int64_t heads_;
};

std::unique_ptr<network> build_albert_dmoe(const kind_settings& settings,
                                           const network_surroundings& around) {
  return std::make_unique<albert_dmoe>(settings, around);
}

} // namespace

model_kind albert_dmoe_kind() {
  return {
      "albert-dmoe",     "albert with a mixture of experts on other machines",
      masked_text(),     true,
      albert_settings(), build_albert_dmoe,
      problem_with_heads};
}

} // namespace potluck
