/// The parts that ALBERT and its variants are made of: embeddings, attention
/// and the head of a masked language model. Private to this folder, since it
/// includes LibTorch.
///
/// Each part is read from the parameters in the order in which `add_...` has
/// put it into the layout, under the names of Hugging Face's state dict.
#pragma once

#include "models/layers.hpp"
#include "models/model_kind.hpp"

namespace potluck {

/// Below this prefix lie the tensors of the layer that is applied again and
/// again.
inline constexpr char albert_layer_prefix[]
    = "albert.encoder.albert_layer_groups.0.albert_layers.0.";

/// The settings of these parts: embedding-size, hidden-size, layers, heads. The
/// vocabulary and the sequence's length are the text's.
std::vector<declared_setting> albert_settings();

void add_albert_embeddings(model_layout& layout, const kind_settings& settings);
void add_albert_attention(model_layout& layout, const kind_settings& settings);
void add_albert_head(model_layout& layout, const kind_settings& settings);

struct albert_embeddings {
  at::Tensor words, positions, types;
  affine norm, mapping_in;

  explicit albert_embeddings(parameter_reader& next);

  /// Tokens [B, S] become [B * S, hidden].
  at::Tensor operator()(const at::Tensor& tokens) const;
};

struct albert_attention {
  affine layer_norm; ///< For whatever comes behind the attention.
  affine qkv;        ///< Query, key and value stacked: one large product.
  affine dense, norm;

  explicit albert_attention(parameter_reader& next);

  /// Self-attention over x [B * S, hidden], its residual sum and LayerNorm.
  at::Tensor operator()(const at::Tensor& x, std::int64_t batch,
                        std::int64_t heads) const;
};

struct albert_head {
  at::Tensor bias;
  affine norm, dense;

  explicit albert_head(parameter_reader& next);

  /// The scores [M, vocabulary] at `positions` [M] of x [B * S, hidden]; the
  /// decoder is tied to the word embeddings.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& positions,
                        const at::Tensor& words) const;
};

} // namespace potluck
