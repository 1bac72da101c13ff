/// ALBERT's masked language model in plain loops and double precision, written
/// from Hugging Face's description and reading parameters by name: what the
/// model in models/ must agree with.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "models/text/sample_stream.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"
#include "tests/models/plain_layers.hpp"

namespace potluck::test {

class albert_reference : plain_layers {
public:
  albert_reference(const run_settings& settings, const model_layout& layout,
                   const std::vector<float>& parameters)
      : plain_layers(layout, parameters, "", 1e-12),
        embedding_size_(size_in(settings, "embedding-size")),
        hidden_size_(size_in(settings, "hidden-size")),
        layers_(size_in(settings, "layers")),
        heads_(size_in(settings, "heads")) {
  }

  /// Mean cross entropy over the sample's chosen tokens.
  double loss(const masked_sample& sample) const {
    const auto hidden = encode(sample.tokens);
    double sum = 0;
    for (std::size_t i = 0; i < sample.positions.size(); ++i) {
      auto x = linear("predictions.dense", hidden[sample.positions[i]]);
      for (auto& value : x)
        value = gelu(value);
      x = norm("predictions.LayerNorm", x);
      row scores = at("predictions.bias");
      const auto& words = at("albert.embeddings.word_embeddings.weight");
      for (std::size_t token = 0; token < scores.size(); ++token)
        for (std::size_t k = 0; k < x.size(); ++k)
          scores[token] += words[token * x.size() + k] * x[k];
      sum -= std::log(
          softmax(scores)[static_cast<std::size_t>(sample.labels[i])]);
    }
    return sum / static_cast<double>(sample.positions.size());
  }

private:
  rows encode(const std::vector<std::int32_t>& tokens) const {
    const std::string embeddings = "albert.embeddings.";
    rows x;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      row e(embedding_size_);
      for (std::size_t k = 0; k < e.size(); ++k)
        e[k] = at(embeddings + "word_embeddings.weight")
                   [static_cast<std::size_t>(tokens[i]) * e.size() + k]
               + at(embeddings + "position_embeddings.weight")[i * e.size() + k]
               + at(embeddings + "token_type_embeddings.weight")[k];
      x.push_back(linear("albert.encoder.embedding_hidden_mapping_in",
                         norm(embeddings + "LayerNorm", e)));
    }
    for (std::size_t i = 0; i < layers_; ++i)
      x = layer(x);
    return x;
  }

  rows layer(const rows& x) const {
    const std::string prefix
        = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
    const auto context = attend(prefix + "attention.", x);
    rows result;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto attended
          = norm(prefix + "attention.LayerNorm",
                 plus(x[i], linear(prefix + "attention.dense", context[i])));
      auto inner = linear(prefix + "ffn", attended);
      for (auto& value : inner)
        value = gelu(value);
      result.push_back(
          norm(prefix + "full_layer_layer_norm",
               plus(linear(prefix + "ffn_output", inner), attended)));
    }
    return result;
  }

  rows attend(const std::string& prefix, const rows& x) const {
    rows query, key, value;
    for (const auto& each : x) {
      query.push_back(linear(prefix + "query", each));
      key.push_back(linear(prefix + "key", each));
      value.push_back(linear(prefix + "value", each));
    }
    const std::size_t width = hidden_size_ / heads_;
    rows context(x.size(), row(hidden_size_));
    for (std::size_t head = 0; head < heads_; ++head)
      for (std::size_t i = 0; i < x.size(); ++i) {
        row scores(x.size());
        for (std::size_t j = 0; j < x.size(); ++j)
          for (auto k = head * width; k < (head + 1) * width; ++k)
            scores[j] += query[i][k] * key[j][k]
                         / std::sqrt(static_cast<double>(width));
        const auto weights = softmax(scores);
        for (std::size_t j = 0; j < x.size(); ++j)
          for (auto k = head * width; k < (head + 1) * width; ++k)
            context[i][k] += weights[j] * value[j][k];
      }
    return context;
  }

  std::size_t embedding_size_, hidden_size_, layers_, heads_;
};

} // namespace potluck::test
