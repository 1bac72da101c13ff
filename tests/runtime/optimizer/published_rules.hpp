/// The rules as their papers write them, in double and without any thought.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/state/model_layout.hpp"
#include "tests/runtime/optimizer/bench_of_vectors.hpp"

namespace potluck::test {

using reals = std::vector<double>;

inline double norm(const reals& x) {
  double sum = 0;
  for (double value : x)
    sum += value * value;
  return std::sqrt(sum);
}

/// One tensor's vectors; `step` counts from 1.
struct published_tensor {
  reals x, m, v;
  bool decays;
};

using published_rule = void (*)(published_tensor&, const reals& g, int step,
                                double rate, const rule_numbers&);

inline double decay_of(const published_tensor& t, const rule_numbers& n) {
  return t.decays ? n.at("weight-decay") : 0;
}

/// You et al. 2019, Algorithm 2; without a trust ratio where nothing decays.
inline void published_lamb(published_tensor& t, const reals& g, int step,
                           double rate, const rule_numbers& n) {
  const double b1 = n.at("beta1"), b2 = n.at("beta2");
  reals r;
  for (std::size_t i = 0; i < g.size(); ++i) {
    t.m[i] = b1 * t.m[i] + (1 - b1) * g[i];
    t.v[i] = b2 * t.v[i] + (1 - b2) * g[i] * g[i];
    r.push_back(
        t.m[i] / (1 - std::pow(b1, step))
            / (std::sqrt(t.v[i] / (1 - std::pow(b2, step))) + n.at("epsilon"))
        + decay_of(t, n) * t.x[i]);
  }
  double trust = 1;
  if (t.decays && norm(t.x) > 0 && norm(r) > 0)
    trust = norm(t.x) / norm(r);
  for (std::size_t i = 0; i < g.size(); ++i)
    t.x[i] -= rate * trust * r[i];
}

/// DeDLOC's lib/training/lamb.py, with debias and a clamp value of 10,000.
inline void published_dedloc_lamb(published_tensor& t, const reals& g, int step,
                                  double rate, const rule_numbers& n) {
  const double b1 = n.at("beta1"), b2 = n.at("beta2");
  reals adam_step;
  for (std::size_t i = 0; i < g.size(); ++i) {
    t.m[i] = b1 * t.m[i] + (1 - b1) * g[i];
    t.v[i] = b2 * t.v[i] + (1 - b2) * g[i] * g[i];
    adam_step.push_back(t.m[i] / (std::sqrt(t.v[i]) + n.at("epsilon"))
                        + decay_of(t, n) * t.x[i]);
  }
  const double correction
      = std::sqrt(1 - std::pow(b2, step)) / (1 - std::pow(b1, step));
  const double weight_norm = std::min(norm(t.x), 10'000.0);
  const double adam_norm = norm(adam_step);
  const double trust
      = weight_norm == 0 || adam_norm == 0 ? 1 : weight_norm / adam_norm;
  for (std::size_t i = 0; i < g.size(); ++i)
    t.x[i] -= rate * correction * trust * adam_step[i];
}

/// Kingma and Ba 2014, Algorithm 1.
inline void published_adam(published_tensor& t, const reals& gradient, int step,
                           double rate, const rule_numbers& n) {
  const double b1 = n.at("beta1"), b2 = n.at("beta2");
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double g = gradient[i] + decay_of(t, n) * t.x[i];
    t.m[i] = b1 * t.m[i] + (1 - b1) * g;
    t.v[i] = b2 * t.v[i] + (1 - b2) * g * g;
    t.x[i]
        -= rate * t.m[i] / (1 - std::pow(b1, step))
           / (std::sqrt(t.v[i] / (1 - std::pow(b2, step))) + n.at("epsilon"));
  }
}

/// Loshchilov and Hutter 2017, Algorithm 2, the decay times the rate.
inline void published_adamw(published_tensor& t, const reals& g, int step,
                            double rate, const rule_numbers& n) {
  const auto decay = rate * decay_of(t, n);
  auto coupled = n;
  coupled["weight-decay"] = 0;
  const auto before = t.x;
  published_adam(t, g, step, rate, coupled);
  for (std::size_t i = 0; i < g.size(); ++i)
    t.x[i] -= decay * before[i];
}

/// As torch.optim.SGD documents it, without dampening.
inline void published_sgd(published_tensor& t, const reals& gradient, int,
                          double rate, const rule_numbers& n) {
  const double mu = n.at("momentum");
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double g = gradient[i] + decay_of(t, n) * t.x[i];
    if (mu > 0)
      t.m[i] = mu * t.m[i] + g;
    const double along = mu == 0                 ? g
                         : n.at("nesterov") == 1 ? g + mu * t.m[i]
                                                 : t.m[i];
    t.x[i] -= rate * along;
  }
}

/// You, Gitman, Ginsburg 2017, Algorithm 1; the rate alone where nothing
/// decays.
inline void published_lars(published_tensor& t, const reals& g, int,
                           double rate, const rule_numbers& n) {
  const double decay = decay_of(t, n);
  double lambda = 1;
  if (t.decays && norm(t.x) > 0 && norm(g) > 0)
    lambda
        = n.at("trust-coefficient") * norm(t.x) / (norm(g) + decay * norm(t.x));
  for (std::size_t i = 0; i < g.size(); ++i) {
    t.m[i]
        = n.at("momentum") * t.m[i] + rate * lambda * (g[i] + decay * t.x[i]);
    t.x[i] -= t.m[i];
  }
}

/// Apex's LARC with clip=True around torch.optim.SGD.
inline void published_larc(published_tensor& t, const reals& g, int,
                           double rate, const rule_numbers& n) {
  const double decay = decay_of(t, n);
  double adaptive = 1;
  if (t.decays && norm(t.x) > 0 && norm(g) > 0)
    adaptive = std::min(n.at("trust-coefficient") * norm(t.x)
                            / (norm(g) + norm(t.x) * decay + 1e-8) / rate,
                        1.0);
  for (std::size_t i = 0; i < g.size(); ++i) {
    t.m[i] = n.at("momentum") * t.m[i] + adaptive * (g[i] + decay * t.x[i]);
    t.x[i] -= rate * t.m[i];
  }
}

/// Chen et al. 2023, Algorithm 2.
inline void published_lion(published_tensor& t, const reals& g, int,
                           double rate, const rule_numbers& n) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double c = n.at("beta1") * t.m[i] + (1 - n.at("beta1")) * g[i];
    const double sign = c > 0 ? 1 : c < 0 ? -1 : 0;
    t.x[i] -= rate * (sign + decay_of(t, n) * t.x[i]);
    t.m[i] = n.at("beta2") * t.m[i] + (1 - n.at("beta2")) * g[i];
  }
}

/// A whole model by such a rule.
struct published_model {
  std::vector<published_tensor> tensors;

  published_model(const model_layout& layout, const std::vector<float>& x,
                  const std::vector<float>& m, const std::vector<float>& v) {
    for (const auto& entry : layout.entries()) {
      auto part = [&](const std::vector<float>& of) {
        auto begin = of.begin() + static_cast<std::ptrdiff_t>(entry.offset);
        return reals(begin, begin + static_cast<std::ptrdiff_t>(entry.values));
      };
      tensors.push_back({part(x), part(m), part(v), entry.decays});
    }
  }

  /// @param scale Of the gradient.
  void apply(published_rule rule, const std::vector<float>& gradient, int step,
             double rate, const rule_numbers& numbers, double scale) {
    auto next = gradient.begin();
    for (auto& t : tensors) {
      reals g;
      for (std::size_t i = 0; i < t.x.size(); ++i)
        g.push_back(scale * static_cast<double>(*next++));
      rule(t, g, step, rate, numbers);
    }
  }

  reals parameters() const {
    reals all;
    for (const auto& t : tensors)
      all.insert(all.end(), t.x.begin(), t.x.end());
    return all;
  }
};

} // namespace potluck::test
