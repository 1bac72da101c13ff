/// Layers in plain loops and double precision, which read parameters by name:
/// what references of models are made of.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/state/model_layout.hpp"
#include "tests/models/fixture.hpp"

namespace potluck::test {

class plain_layers {
protected:
  using row = std::vector<double>;
  using rows = std::vector<row>;

  /// @param prefix Of every name. @param epsilon Of the norms.
  plain_layers(const model_layout& layout, const std::vector<float>& parameters,
               std::string prefix, double epsilon)
      : prefix_(std::move(prefix)), epsilon_(epsilon) {
    for (const auto& entry : layout.entries()) {
      auto from
          = parameters.begin() + static_cast<std::ptrdiff_t>(entry.offset);
      values_[entry.name]
          = row(from, from + static_cast<std::ptrdiff_t>(entry.values));
    }
  }

  const row& at(const std::string& name) const {
    return values_.at(prefix_ + name);
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

  /// Weights are [out, in].
  row linear(const std::string& name, const row& x) const {
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
      x[i] = (x[i] - mean) / std::sqrt(variance + epsilon_)
                 * at(name + ".weight")[i]
             + at(name + ".bias")[i];
    return x;
  }

  static row plus(row a, const row& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] += b[i];
    return a;
  }

  static std::size_t size_in(const run_settings& settings,
                             const std::string& name) {
    return static_cast<std::size_t>(number_in(settings, name));
  }

private:
  std::map<std::string, row> values_;
  std::string prefix_;
  double epsilon_;
};

} // namespace potluck::test
