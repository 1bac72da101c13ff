/// GPT-2's language model in plain loops and double precision, written from
/// Hugging Face's description and reading parameters by name: what the model in
/// models/ must agree with.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/text/tokenizer.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck::test {

class gpt_reference {
public:
  using row = std::vector<double>;
  using rows = std::vector<row>;

  gpt_reference(const run_settings& settings, const model_layout& layout,
                const std::vector<float>& parameters)
      : hidden_size_(size_in(settings, "hidden-size")),
        layers_(size_in(settings, "layers")),
        heads_(size_in(settings, "heads")) {
    for (const auto& entry : layout.entries()) {
      auto from
          = parameters.begin() + static_cast<std::ptrdiff_t>(entry.offset);
      values_[entry.name]
          = row(from, from + static_cast<std::ptrdiff_t>(entry.values));
    }
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
  const row& at(const std::string& name) const {
    return values_.at("transformer." + name);
  }

  static double gelu(double x) {
    return 0.5 * x
           * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }

  static row softmax(row x) {
    double sum = 0;
    for (auto& value : x)
      sum += value = std::exp(value);
    for (auto& value : x)
      value /= sum;
    return x;
  }

  /// Weights are [out, in], which they are not there.
  row map(const std::string& name, const row& x) const {
    row y = at(name + ".bias");
    const auto& weight = at(name + ".weight");
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t k = 0; k < x.size(); ++k)
        y[i] += weight[i * x.size() + k] * x[k];
    return y;
  }

  row norm(const std::string& name, row x) const {
    double mean = 0, variance = 0;
    for (auto value : x)
      mean += value / static_cast<double>(x.size());
    for (auto value : x)
      variance += std::pow(value - mean, 2) / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i]
          = (x[i] - mean) / std::sqrt(variance + 1e-5) * at(name + ".weight")[i]
            + at(name + ".bias")[i];
    return x;
  }

  static void add(row& a, const row& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] += b[i];
  }

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
      qkv.push_back(map(prefix + "attn.c_attn", norm(prefix + "ln_1", each)));
    const auto context = attend(qkv);
    for (std::size_t i = 0; i < x.size(); ++i) {
      add(x[i], map(prefix + "attn.c_proj", context[i]));
      auto inner = map(prefix + "mlp.c_fc", norm(prefix + "ln_2", x[i]));
      for (auto& value : inner)
        value = gelu(value);
      add(x[i], map(prefix + "mlp.c_proj", inner));
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

  static std::size_t size_in(const run_settings& settings,
                             const std::string& name) {
    return static_cast<std::size_t>(number_in(settings, name));
  }

  std::size_t hidden_size_;
  std::size_t layers_;
  std::size_t heads_;
  std::map<std::string, row> values_;
};

} // namespace potluck::test
