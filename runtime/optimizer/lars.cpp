/// LARS (You, Gitman, Ginsburg 2017, arXiv 1708.03888, Algorithm 1), and LARC,
/// which never exceeds the rate (NVIDIA's Apex, with clipping).
///
///   lambda = trust ||x|| / (||g|| + decay ||x|| + epsilon)
///   LARS: m <- momentum m + rate lambda (g + decay x),  x <- x - m
///   LARC: m <- momentum m + min(lambda / rate, 1) (g + decay x),
///         x <- x - rate m
///
/// epsilon is 0 in LARS, 1e-8 in LARC. For tensors that do not decay, and where
/// a norm is zero, the factors of the first sum are the rate and 1.
#include <algorithm>
#include <cmath>

#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"

namespace potluck {

namespace {

struct coefficients {
  float scale; ///< Of the gradient: clipping.
  float decay;
  float momentum;
  float inner, outer; ///< Of what enters the moment, and leaves it.
};

POTLUCK_WIDE double gradient_squares(float scale, const float* gradient,
                                     std::size_t size) {
  return sum_of_squares(size,
                        [=](std::size_t i) { return gradient[i] * scale; });
}

POTLUCK_WIDE void roll_down(const coefficients& c, const float* gradient,
                            float* x, float* m, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    m[i] = c.momentum * m[i]
           + c.inner * (gradient[i] * c.scale + c.decay * x[i]);
    x[i] -= c.outer * m[i];
  }
}

class lars_rule : public optimizer_rule {
public:
  lars_rule(const kind_settings& x, bool larc)
      : momentum_(static_cast<float>(x.real("momentum"))),
        trust_(x.real("trust-coefficient")), decay_(x.real("weight-decay")),
        larc_(larc) {
  }

  unsigned moments() const override {
    return 1;
  }

  unsigned traffic() const override {
    return 2 + 3 + 2; // Reads x and g for the norms; then as others.
  }

  void begin(std::uint64_t, float scale) override {
    scale_ = scale;
  }

  bool measures() const override {
    return true;
  }

  squared_norms measure(const block_vectors& b,
                        const tensor_terms& tensor) const override {
    if (!tensor.decays)
      return {};
    return {block_squares(b.x, b.size),
            gradient_squares(scale_, b.gradient, b.size)};
  }

  double trust(const squared_norms& norms, const tensor_terms& tensor,
               double rate) const override {
    if (!tensor.decays || !(norms.parameters > 0) || !(norms.direction > 0))
      return 1;
    const auto own = std::sqrt(norms.parameters);
    const auto lambda
        = trust_ * own
          / (std::sqrt(norms.direction) + decay_ * own + (larc_ ? 1e-8 : 0));
    return larc_ ? std::min(lambda / rate, 1.0) : lambda;
  }

  void move(const block_vectors& b, const tensor_terms& tensor, double rate,
            double trust) const override {
    coefficients c;
    c.scale = scale_;
    c.decay = tensor.decays ? static_cast<float>(decay_) : 0.0f;
    c.momentum = momentum_;
    c.inner = static_cast<float>(larc_ ? trust : rate * trust);
    c.outer = larc_ ? static_cast<float>(rate) : 1.0f;
    roll_down(c, b.gradient, b.x, b.m, b.size);
  }

private:
  float momentum_;
  double trust_;
  double decay_;
  bool larc_;
  float scale_ = 1;
};

template <bool Larc>
std::unique_ptr<optimizer_rule> make(const kind_settings& settings) {
  return std::make_unique<lars_rule>(settings, Larc);
}

std::vector<declared_setting> settings(double trust) {
  return {
      momentum_setting("Share of the last direction"),
      optimizer_setting("trust-coefficient",
                        "How far a tensor moves at a rate of 1, over its norm",
                        {0, 1e6, false, true}, trust),
      decay_setting("Share of a weight in its gradient", 1e-4)};
}

} // namespace

namespace optimizers {

optimizer_kind lars() {
  return {{"lars", "SGD whose rate each tensor adapts (You et al. 2017)",
           settings(0.001)},
          make<false>};
}

optimizer_kind larc() {
  return {{"larc", "LARS that never exceeds the rate (NVIDIA's Apex)",
           settings(0.02)},
          make<true>};
}

} // namespace optimizers

} // namespace potluck
