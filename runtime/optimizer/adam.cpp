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
#include "runtime/optimizer/rules.hpp"

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
  adam_rule(const rule_numbers& x, bool decoupled)
      : beta1_(x.at("beta1")), beta2_(x.at("beta2")), epsilon_(x.at("epsilon")),
        decay_(x.at("weight-decay")), decoupled_(decoupled) {
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
std::unique_ptr<optimizer_rule> make(const rule_numbers& numbers) {
  return std::make_unique<adam_rule>(numbers, Decoupled);
}

std::vector<rule_number> numbers(double decay, const char* of_decay) {
  return {
      {"beta1", 0.9, 0, 1, "Memory of the gradient"},
      {"beta2", 0.999, 0, 1, "Memory of the squared gradient"},
      {"epsilon", 1e-8, 1e-30, 1, "Guard against division by zero"},
      {"weight-decay", decay, 0, 100, of_decay},
  };
}

} // namespace

namespace optimizers {

extern const optimizer_kind adam{
    "adam", "Adam (Kingma and Ba 2014), with the gradient of a square penalty",
    numbers(0, "Share of a weight in its gradient"), make<false>};

extern const optimizer_kind adamw{
    "adamw", "Adam with decoupled weight decay (Loshchilov and Hutter 2017)",
    numbers(0.01, "Share of a weight that it loses a step, over the rate"),
    make<true>};

} // namespace optimizers

} // namespace potluck
