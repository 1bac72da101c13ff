/// Lion (Chen et al. 2023, arXiv 2302.06675, Algorithm 2).
///
///   c = beta1 m + (1 - beta1) g,  m <- beta2 m + (1 - beta2) g
///   x <- x - rate (sign(c) + decay x)
#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"

namespace potluck {

namespace {

struct coefficients {
  float scale; ///< Of the gradient: clipping.
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float decay;
  float rate;
};

inline float sign(float x) {
  return (x > 0 ? 1.0f : 0.0f) - (x < 0 ? 1.0f : 0.0f);
}

POTLUCK_WIDE void update(const coefficients& c, const float* gradient, float* x,
                         float* m, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i] * c.scale;
    x[i] -= c.rate
            * (sign(c.beta1 * m[i] + c.one_minus_beta1 * g) + c.decay * x[i]);
    m[i] = c.beta2 * m[i] + c.one_minus_beta2 * g;
  }
}

class lion_rule : public optimizer_rule {
public:
  explicit lion_rule(const kind_settings& x)
      : decay_(static_cast<float>(x.real("weight-decay"))) {
    c_.beta1 = static_cast<float>(x.real("beta1"));
    c_.one_minus_beta1 = static_cast<float>(1 - x.real("beta1"));
    c_.beta2 = static_cast<float>(x.real("beta2"));
    c_.one_minus_beta2 = static_cast<float>(1 - x.real("beta2"));
  }

  unsigned moments() const override {
    return 1;
  }

  void begin(std::uint64_t, float scale) override {
    c_.scale = scale;
  }

  void move(const block_vectors& b, const tensor_terms& tensor, double rate,
            double) const override {
    auto c = c_;
    c.decay = tensor.decays ? decay_ : 0.0f;
    c.rate = static_cast<float>(rate);
    update(c, b.gradient, b.x, b.m, b.size);
  }

private:
  float decay_;
  coefficients c_{};
};

std::unique_ptr<optimizer_rule> make(const kind_settings& settings) {
  return std::make_unique<lion_rule>(settings);
}

} // namespace

namespace optimizers {

optimizer_kind lion() {
  return {
      {"lion",
       "the sign of a momentum (Chen et al. 2023), at a third to a tenth "
       "of Adam's rate",
       {beta1_setting("Memory of the gradient in the direction", 0.9),
        beta2_setting("Memory of the gradient that is kept", 0.99),
        decay_setting("Share of a weight that it loses a step, over the rate",
                      0.01)}},
      make};
}

} // namespace optimizers

} // namespace potluck
