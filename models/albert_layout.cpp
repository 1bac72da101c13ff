#include "models/albert_layout.hpp"

#include <string>

namespace potluck {

namespace {

constexpr float matrix_deviation = 0.02f;

/// Adds tensors below one prefix.
struct section {
  model_layout& layout;
  std::string prefix;

  void matrix(const std::string& name, std::int64_t rows,
              std::int64_t columns) {
    layout.add(prefix + name + ".weight", {rows, columns}, true, 0,
               matrix_deviation);
  }
  void linear(const std::string& name, std::int64_t out, std::int64_t in) {
    matrix(name, out, in);
    layout.add(prefix + name + ".bias", {out}, false, 0, 0);
  }
  void layer_norm(const std::string& name, std::int64_t size) {
    layout.add(prefix + name + ".weight", {size}, false, 1, 0);
    layout.add(prefix + name + ".bias", {size}, false, 0, 0);
  }
};

} // namespace

model_layout albert_layout(const run_settings& x) {
  model_layout result;
  section embeddings{result, "albert.embeddings."};
  embeddings.matrix("word_embeddings", x.vocabulary, x.embedding_size);
  embeddings.matrix("position_embeddings", x.sequence_length, x.embedding_size);
  embeddings.matrix("token_type_embeddings", 2, x.embedding_size);
  embeddings.layer_norm("LayerNorm", x.embedding_size);

  section encoder{result, "albert.encoder."};
  encoder.linear("embedding_hidden_mapping_in", x.hidden_size,
                 x.embedding_size);

  section layer{result,
                "albert.encoder.albert_layer_groups.0.albert_layers.0."};
  layer.layer_norm("full_layer_layer_norm", x.hidden_size);
  layer.linear("attention.query", x.hidden_size, x.hidden_size);
  layer.linear("attention.key", x.hidden_size, x.hidden_size);
  layer.linear("attention.value", x.hidden_size, x.hidden_size);
  layer.linear("attention.dense", x.hidden_size, x.hidden_size);
  layer.layer_norm("attention.LayerNorm", x.hidden_size);
  layer.linear("ffn", x.intermediate_size, x.hidden_size);
  layer.linear("ffn_output", x.hidden_size, x.intermediate_size);

  section predictions{result, "predictions."};
  result.add("predictions.bias", {x.vocabulary}, false, 0, 0);
  predictions.layer_norm("LayerNorm", x.embedding_size);
  predictions.linear("dense", x.embedding_size, x.hidden_size);
  return result;
}

} // namespace potluck
