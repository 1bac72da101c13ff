/// SGD with momentum (Polyak 1964), or Nesterov's (Sutskever et al. 2013), as
/// PyTorch has them, without dampening.
///
///   g <- g + decay x,  m <- momentum m + g
///   x <- x - rate m;  Nesterov: x <- x - rate (g + momentum m)
///
/// Without momentum it keeps nothing: x <- x - rate g.
#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"

namespace potluck {

namespace {

struct coefficients {
  float scale; ///< Of the gradient: clipping.
  float decay;
  float momentum;
  float of_gradient, of_moment; ///< Their shares in the direction.
  float rate;
};

POTLUCK_WIDE void step_down(const coefficients& c, const float* gradient,
                            float* x, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    x[i] -= c.rate * (gradient[i] * c.scale + c.decay * x[i]);
}

POTLUCK_WIDE void roll_down(const coefficients& c, const float* gradient,
                            float* x, float* m, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i] * c.scale + c.decay * x[i];
    m[i] = c.momentum * m[i] + g;
    x[i] -= c.rate * (c.of_gradient * g + c.of_moment * m[i]);
  }
}

class sgd_rule : public optimizer_rule {
public:
  explicit sgd_rule(const kind_settings& x)
      : momentum_(static_cast<float>(x.real("momentum"))),
        nesterov_(x.text("nesterov") == "yes"),
        decay_(static_cast<float>(x.real("weight-decay"))) {
  }

  unsigned moments() const override {
    return momentum_ > 0 ? 1 : 0;
  }

  void begin(std::uint64_t, float scale) override {
    scale_ = scale;
  }

  void move(const block_vectors& b, const tensor_terms& tensor, double rate,
            double) const override {
    coefficients c;
    c.scale = scale_;
    c.decay = tensor.decays ? decay_ : 0.0f;
    c.momentum = momentum_;
    c.of_gradient = nesterov_ ? 1.0f : 0.0f;
    c.of_moment = nesterov_ ? momentum_ : 1.0f;
    c.rate = static_cast<float>(rate);
    if (moments() == 0)
      step_down(c, b.gradient, b.x, b.size);
    else
      roll_down(c, b.gradient, b.x, b.m, b.size);
  }

private:
  float momentum_;
  bool nesterov_;
  float decay_;
  float scale_ = 1;
};

std::unique_ptr<optimizer_rule> make(const kind_settings& settings) {
  return std::make_unique<sgd_rule>(settings);
}

} // namespace

namespace optimizers {

optimizer_kind sgd() {
  return {{"sgd",
           "gradient descent with momentum",
           {momentum_setting("Share of the last direction; 0 keeps none"),
            {"nesterov", "optimizer",
             "Whether to look ahead by the momentum (Nesterov): yes or no",
             declared_setting::text_limits{3, {"yes", "no"}}, "no"},
            decay_setting("Share of a weight in its gradient", 0)}},
          make};
}

} // namespace optimizers

} // namespace potluck
