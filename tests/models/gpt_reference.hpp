/// GPT-2's language model in plain loops and double precision, written from
/// Hugging Face's description and reading parameters by name: what the model in
/// models/ must agree with.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "models/text/tokenizer.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"
#include "tests/models/plain_layers.hpp"

namespace potluck::test {

class gpt_reference : plain_layers {
public:
  gpt_reference(const run_settings& settings, const model_layout& layout,
                const std::vector<float>& parameters)
      : plain_layers(layout, parameters, "transformer.", 1e-5),
        hidden_size_(size_in(settings, "hidden-size")),
        layers_(size_in(settings, "layers")),
        heads_(size_in(settings, "heads")) {
  }

  /// Mean cross entropy over a window's tokens, each predicted from those
  /// before it and from [CLS].
  double loss(const std::vector<std::int32_t>& window) const {
    auto tokens = window;
    tokens.insert(tokens.begin(), special_token::begin);
    tokens.pop_back();
    const auto hidden = decode(tokens);
    const auto& words = at("wte.weight");
    double sum = 0;
    for (std::size_t i = 0; i < window.size(); ++i) {
      const auto x = norm("ln_f", hidden[i]);
      row scores(words.size() / x.size());
      for (std::size_t token = 0; token < scores.size(); ++token)
        for (std::size_t k = 0; k < x.size(); ++k)
          scores[token] += words[token * x.size() + k] * x[k];
      sum -= std::log(softmax(scores)[static_cast<std::size_t>(window[i])]);
    }
    return sum / static_cast<double>(window.size());
  }

private:
  rows decode(const std::vector<std::int32_t>& tokens) const {
    const auto hidden = hidden_size_;
    rows x;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      row e(hidden);
      for (std::size_t k = 0; k < hidden; ++k)
        e[k]
            = at("wte.weight")[static_cast<std::size_t>(tokens[i]) * hidden + k]
              + at("wpe.weight")[i * hidden + k];
      x.push_back(e);
    }
    for (std::size_t i = 0; i < layers_; ++i)
      layer("h." + std::to_string(i) + ".", x);
    return x;
  }

  void layer(const std::string& prefix, rows& x) const {
    rows qkv;
    for (const auto& each : x)
      qkv.push_back(
          linear(prefix + "attn.c_attn", norm(prefix + "ln_1", each)));
    const auto context = attend(qkv);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = plus(x[i], linear(prefix + "attn.c_proj", context[i]));
      auto inner = linear(prefix + "mlp.c_fc", norm(prefix + "ln_2", x[i]));
      for (auto& value : inner)
        value = gelu(value);
      x[i] = plus(x[i], linear(prefix + "mlp.c_proj", inner));
    }
  }

  rows attend(const rows& qkv) const {
    const auto hidden = hidden_size_;
    const std::size_t width = hidden / heads_;
    rows context(qkv.size(), row(hidden));
    for (std::size_t head = 0; head < heads_; ++head)
      for (std::size_t i = 0; i < qkv.size(); ++i) {
        row scores(i + 1);
        for (std::size_t j = 0; j <= i; ++j)
          for (auto k = head * width; k < (head + 1) * width; ++k)
            scores[j] += qkv[i][k] * qkv[j][hidden + k]
                         / std::sqrt(static_cast<double>(width));
        const auto weights = softmax(scores);
        for (std::size_t j = 0; j <= i; ++j)
          for (auto k = head * width; k < (head + 1) * width; ++k)
            context[i][k] += weights[j] * qkv[j][2 * hidden + k];
      }
    return context;
  }

  std::size_t hidden_size_;
  std::size_t layers_;
  std::size_t heads_;
};

} // namespace potluck::test
