#include "models/albert.hpp"

#include <stdexcept>

#include "models/albert_layout.hpp"
#include "models/building_blocks.hpp"

namespace potluck {

namespace {

/// The parameters by role; the order is the layout's.
struct roles {
  at::Tensor words, positions, types;
  affine embedding_norm, mapping_in, layer_norm, query, key, value, dense,
      attention_norm, ffn, ffn_output;
  at::Tensor score_bias;
  affine head_norm, head_dense;

  explicit roles(const std::vector<at::Tensor>& parameters) {
    std::size_t at = 0;
    for (auto* x : {&words, &positions, &types})
      *x = parameters.at(at++);
    auto take = [&](affine& x) {
      x.weight = parameters.at(at++);
      x.bias = parameters.at(at++);
    };
    for (auto* x : {&embedding_norm, &mapping_in, &layer_norm, &query, &key,
                    &value, &dense, &attention_norm, &ffn, &ffn_output})
      take(*x);
    score_bias = parameters.at(at++);
    take(head_norm);
    take(head_dense);
    if (at != parameters.size())
      throw std::logic_error("ALBERT's layout and roles differ");
  }
};

} // namespace

albert::albert(const run_settings& settings)
    : layout_(albert_layout(settings)), layers_(settings.layers),
      heads_(settings.heads) {
}

at::Tensor albert::scores(const std::vector<at::Tensor>& parameters,
                          const masked_batch& batch) const {
  const roles p(parameters);
  const auto samples = batch.tokens.size(0);
  const auto length = batch.tokens.size(1);

  auto x = at::embedding(p.words, batch.tokens)
           + (p.positions.narrow(0, 0, length) + p.types.select(0, 0));
  x = normalize(p.embedding_norm, x).view({samples * length, -1});
  x = apply(p.mapping_in, x);

  const affine qkv{at::cat({p.query.weight, p.key.weight, p.value.weight}),
                   at::cat({p.query.bias, p.key.bias, p.value.bias})};
  for (std::int64_t i = 0; i < layers_; ++i) {
    x = normalize(p.attention_norm,
                  x + apply(p.dense, attend(qkv, x, samples, heads_)));
    x = normalize(p.layer_norm,
                  x + apply(p.ffn_output, activate(apply(p.ffn, x))));
  }

  auto chosen = x.index_select(0, batch.positions);
  chosen = normalize(p.head_norm, activate(apply(p.head_dense, chosen)));
  return at::linear(chosen, p.words, p.score_bias);
}

} // namespace potluck
