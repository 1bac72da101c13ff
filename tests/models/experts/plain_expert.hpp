/// The experts of models/experts once more, in plain loops over doubles: what
/// the tests compare with.
#pragma once

#include <cmath>
#include <stdexcept>
#include <vector>

#include "models/experts/expert_layout.hpp"

namespace potluck::test {

using reals = std::vector<double>;

/// Reads the tensors one after the other.
struct plain_parameters {
  const reals& all;
  std::size_t at = 0;

  reals take(std::size_t count) {
    if (at + count > all.size())
      throw std::logic_error("the layout has fewer parameters than that");
    reals x(all.begin() + static_cast<std::ptrdiff_t>(at),
            all.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
    return x;
  }
};

inline reals linear(plain_parameters& p, const reals& x, std::size_t in,
                    std::size_t out) {
  auto weight = p.take(out * in);
  auto bias = p.take(out);
  reals y;
  for (std::size_t row = 0; row < x.size() / in; ++row)
    for (std::size_t o = 0; o < out; ++o) {
      double sum = bias[o];
      for (std::size_t i = 0; i < in; ++i)
        sum += weight[o * in + i] * x[row * in + i];
      y.push_back(sum);
    }
  return y;
}

inline reals normalize(plain_parameters& p, reals x, std::size_t size) {
  auto weight = p.take(size);
  auto bias = p.take(size);
  for (std::size_t row = 0; row < x.size() / size; ++row) {
    double* at = x.data() + row * size;
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < size; ++i)
      mean += at[i] / double(size);
    for (std::size_t i = 0; i < size; ++i)
      variance += (at[i] - mean) * (at[i] - mean) / double(size);
    for (std::size_t i = 0; i < size; ++i)
      at[i]
          = (at[i] - mean) / std::sqrt(variance + 1e-12) * weight[i] + bias[i];
  }
  return x;
}

inline reals attention(plain_parameters& p, const reals& x,
                       const expert_kind& kind) {
  std::size_t h = kind.hidden;
  std::size_t tokens = kind.tokens;
  std::size_t width = h / kind.heads;
  auto qkv = linear(p, x, h, 3 * h);
  reals y(x.size());
  for (std::size_t row = 0; row < x.size() / h; ++row)
    for (std::size_t head = 0; head < kind.heads; ++head) {
      auto first = row / tokens * tokens;
      auto part = [&](std::size_t token, std::size_t which, std::size_t i) {
        return qkv[token * 3 * h + which * h + head * width + i];
      };
      reals weight;
      double total = 0;
      for (std::size_t t = 0; t < tokens; ++t) {
        double score = 0;
        for (std::size_t i = 0; i < width; ++i)
          score += part(row, 0, i) * part(first + t, 1, i);
        weight.push_back(std::exp(score / std::sqrt(double(width))));
        total += weight.back();
      }
      for (std::size_t i = 0; i < width; ++i)
        for (std::size_t t = 0; t < tokens; ++t)
          y[row * h + head * width + i]
              += weight[t] / total * part(first + t, 2, i);
    }
  return y;
}

inline reals add(reals x, const reals& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] += y[i];
  return x;
}

/// Outputs [samples, hidden * tokens] of inputs of the same shape.
inline reals plain_outputs(const expert_kind& kind, const reals& parameters,
                           reals x) {
  plain_parameters p{parameters};
  std::size_t h = kind.hidden;
  if (kind.layer == "transformer") {
    auto mixed = linear(p, attention(p, x, kind), h, h);
    x = normalize(p, add(x, mixed), h);
  }
  auto y = linear(p, x, h, inner_of(kind));
  for (auto& v : y)
    v *= 0.5
         * (1
            + std::tanh(std::sqrt(2 / 3.14159265358979323846)
                        * (v + 0.044715 * v * v * v)));
  y = normalize(p, add(x, linear(p, y, inner_of(kind), h)), h);
  if (p.at != parameters.size())
    throw std::logic_error("the layout has more parameters than that");
  return y;
}

} // namespace potluck::test
