/// Adam (Kingma and Ba 2014, arXiv 1412.6980, Algorithm 1) and AdamW, whose
/// decay is decoupled (Loshchilov and Hutter 2017, arXiv 1711.05101,
/// Algorithm 2).
///
///   Adam: g <- g + decay x
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///   r = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
///   AdamW: r <- r + decay x
///   x <- x - rate r
#include <cmath>

#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"

namespace potluck {

namespace {

struct coefficients {
  float scale; ///< Of the gradient: clipping.
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float m_correction, v_correction; ///< 1 / (1 - beta^step)
  float epsilon;
  float coupled, decoupled; ///< Decay: of the gradient, of the direction.
  float rate;
};

POTLUCK_WIDE void update(const coefficients& c, const float* gradient, float* x,
                         float* m, float* v, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i] * c.scale + c.coupled * x[i];
    m[i] = c.beta1 * m[i] + c.one_minus_beta1 * g;
    v[i] = c.beta2 * v[i] + c.one_minus_beta2 * (g * g);
    x[i] -= c.rate
            * (m[i] * c.m_correction
                   / (std::sqrt(v[i] * c.v_correction) + c.epsilon)
               + c.decoupled * x[i]);
  }
}

class adam_rule : public optimizer_rule {
public:
  adam_rule(const kind_settings& x, bool decoupled)
      : beta1_(x.real("beta1")), beta2_(x.real("beta2")),
        epsilon_(x.real("epsilon")), decay_(x.real("weight-decay")),
        decoupled_(decoupled) {
  }

  unsigned moments() const override {
    return 2;
  }

  void begin(std::uint64_t step, float scale) override {
    c_.scale = scale;
    c_.beta1 = static_cast<float>(beta1_);
    c_.one_minus_beta1 = static_cast<float>(1 - beta1_);
    c_.beta2 = static_cast<float>(beta2_);
    c_.one_minus_beta2 = static_cast<float>(1 - beta2_);
    c_.m_correction = static_cast<float>(1 / (1 - exact_power(beta1_, step)));
    c_.v_correction = static_cast<float>(1 / (1 - exact_power(beta2_, step)));
    c_.epsilon = static_cast<float>(epsilon_);
  }

  void move(const block_vectors& b, const tensor_terms& tensor, double rate,
            double) const override {
    auto c = c_;
    (decoupled_ ? c.decoupled : c.coupled)
        = tensor.decays ? static_cast<float>(decay_) : 0.0f;
    c.rate = static_cast<float>(rate);
    update(c, b.gradient, b.x, b.m, b.v, b.size);
  }

private:
  double beta1_;
  double beta2_;
  double epsilon_;
  double decay_;
  bool decoupled_;
  coefficients c_{};
};

template <bool Decoupled>
std::unique_ptr<optimizer_rule> make(const kind_settings& settings) {
  return std::make_unique<adam_rule>(settings, Decoupled);
}

std::vector<declared_setting> settings(declared_setting decay) {
  return {beta1_setting("Memory of the gradient", 0.9),
          beta2_setting("Memory of the squared gradient", 0.999),
          epsilon_setting(1e-8), std::move(decay)};
}

} // namespace

namespace optimizers {

optimizer_kind adam() {
  return {{"adam", "with its decay in the gradient (Kingma, Ba 2014)",
           settings(decay_setting("Share of a weight in its gradient", 0))},
          make<false>};
}

optimizer_kind adamw() {
  return {{"adamw", "Adam with decoupled decay (Loshchilov, Hutter 2017)",
           settings(decay_setting(
               "Share of a weight that it loses a step, over the rate", 0.01))},
          make<true>};
}

} // namespace optimizers

} // namespace potluck
