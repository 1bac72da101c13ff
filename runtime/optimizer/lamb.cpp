/// LAMB (You et al. 2019, arXiv 1904.00962, Algorithm 2), and the variant of
/// DeDLOC's code (Diskin et al. 2021, arXiv 2106.10207).
///
///   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
///   r = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + decay x
///   x <- x - rate phi r,  phi = ||x|| / ||r||
///
/// phi is 1 for tensors that do not decay, and where a norm is zero. In the
/// variant r is without the corrections (1 - beta^t), which the rate gets
/// instead: sqrt(1 - beta2^t) / (1 - beta1^t); ||x|| counts as 10,000 at most;
/// and tensors that do not decay have a phi, too.
#include <algorithm>
#include <cmath>

#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"

namespace potluck {

namespace {

/// The numbers of one update, as floats: what the loops over values need.
struct coefficients {
  float scale; ///< Of the gradient: clipping.
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float m_correction, v_correction; ///< 1 / (1 - beta^step), or 1.
  float epsilon;
};

POTLUCK_WIDE void update_moments(const coefficients& c, const float* gradient,
                                 float* m, float* v, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    float g = gradient[i] * c.scale;
    m[i] = c.beta1 * m[i] + c.one_minus_beta1 * g;
    v[i] = c.beta2 * v[i] + c.one_minus_beta2 * (g * g);
  }
}

/// The direction r, with the weight decay added.
inline float direction(const coefficients& c, float decay, float x, float m,
                       float v) {
  return m * c.m_correction / (std::sqrt(v * c.v_correction) + c.epsilon)
         + decay * x;
}

POTLUCK_WIDE double direction_squares(const coefficients& c, float decay,
                                      const float* x, const float* m,
                                      const float* v, std::size_t size) {
  return sum_of_squares(size, [&](std::size_t i) {
    return direction(c, decay, x[i], m[i], v[i]);
  });
}

POTLUCK_WIDE void step_along(const coefficients& c, float decay, float rate,
                             float* x, const float* m, const float* v,
                             std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    x[i] -= rate * direction(c, decay, x[i], m[i], v[i]);
}

constexpr double dedloc_largest_norm = 10'000;

class lamb_rule : public optimizer_rule {
public:
  lamb_rule(const kind_settings& x, bool dedloc)
      : beta1_(x.real("beta1")), beta2_(x.real("beta2")),
        epsilon_(x.real("epsilon")),
        decay_(static_cast<float>(x.real("weight-decay"))), dedloc_(dedloc) {
  }

  unsigned moments() const override {
    return 2;
  }

  unsigned traffic() const override {
    return 4 + 2 + 3 + 1; // Reads and writes; then those to move x.
  }

  void begin(std::uint64_t step, float scale) override {
    const auto of_m = 1 / (1 - exact_power(beta1_, step));
    const auto of_v = 1 / (1 - exact_power(beta2_, step));
    c_.scale = scale;
    c_.beta1 = static_cast<float>(beta1_);
    c_.one_minus_beta1 = static_cast<float>(1 - beta1_);
    c_.beta2 = static_cast<float>(beta2_);
    c_.one_minus_beta2 = static_cast<float>(1 - beta2_);
    c_.m_correction = dedloc_ ? 1 : static_cast<float>(of_m);
    c_.v_correction = dedloc_ ? 1 : static_cast<float>(of_v);
    c_.epsilon = static_cast<float>(epsilon_);
    of_rate_ = dedloc_ ? of_m / std::sqrt(of_v) : 1;
  }

  bool measures() const override {
    return true;
  }

  squared_norms measure(const block_vectors& b,
                        const tensor_terms& tensor) const override {
    update_moments(c_, b.gradient, b.m, b.v, b.size);
    if (!adapts(tensor))
      return {};
    return {block_squares(b.x, b.size),
            direction_squares(c_, decay(tensor), b.x, b.m, b.v, b.size)};
  }

  double trust(const squared_norms& norms, const tensor_terms& tensor,
               double) const override {
    // 1 if either is zero, so that a tensor of zeros can leave zero.
    if (!adapts(tensor) || !(norms.parameters > 0) || !(norms.direction > 0))
      return 1;
    auto own = std::sqrt(norms.parameters);
    if (dedloc_)
      own = std::min(own, dedloc_largest_norm);
    return own / std::sqrt(norms.direction);
  }

  void move(const block_vectors& b, const tensor_terms& tensor, double rate,
            double trust) const override {
    step_along(c_, decay(tensor), static_cast<float>(rate * of_rate_ * trust),
               b.x, b.m, b.v, b.size);
  }

private:
  bool adapts(const tensor_terms& tensor) const {
    return tensor.decays || dedloc_;
  }
  float decay(const tensor_terms& tensor) const {
    return tensor.decays ? decay_ : 0.0f;
  }

  double beta1_;
  double beta2_;
  double epsilon_;
  float decay_;
  bool dedloc_;
  coefficients c_{};
  double of_rate_ = 1; ///< Its corrections, in DeDLOC's variant.
};

template <bool Dedloc>
std::unique_ptr<optimizer_rule> make(const kind_settings& settings) {
  return std::make_unique<lamb_rule>(settings, Dedloc);
}

std::vector<declared_setting> settings() {
  return {beta1_setting("Memory of the gradient", 0.9),
          beta2_setting("Memory of the squared gradient", 0.999),
          epsilon_setting(1e-6),
          decay_setting("Share of a weight in its direction", 0.01)};
}

} // namespace

namespace optimizers {

optimizer_kind lamb() {
  return {{"lamb", "for large batches (You et al. 2019)", settings()},
          make<false>};
}

optimizer_kind dedloc_lamb() {
  return {{"dedloc-lamb", "that of DeDLOC's code, at other rates", settings()},
          make<true>};
}

} // namespace optimizers

} // namespace potluck
