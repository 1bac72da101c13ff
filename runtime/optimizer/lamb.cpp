#include "runtime/optimizer/lamb.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include "messages/digest_stream.hpp"
#include "runtime/wide_loops.hpp"

#ifdef __FAST_MATH__
#error "Compile without -ffast-math: peers would compute different bits."
#endif
static_assert(__FLT_EVAL_METHOD__ == 0,
              "floats must be computed as floats (on x86: -msse2)");

namespace potluck {

namespace {

/// Values that are summed and updated together; a multiple of `lanes`. Part of
/// the definition of the sums: another size gives other bits.
constexpr std::size_t block_values = 8192;
/// Independent partial sums, so that the compiler may use vector registers.
constexpr std::size_t lanes = 8;

/// Rounding to nearest and denormals as they are, in this thread and in those
/// that it starts, whatever the caller's arithmetic is.
class standard_arithmetic {
public:
  standard_arithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~standard_arithmetic() {
    std::fesetenv(&before_);
  }
  standard_arithmetic(const standard_arithmetic&) = delete;
  standard_arithmetic& operator=(const standard_arithmetic&) = delete;

private:
  std::fenv_t before_;
};

/// The gradient's square must still be a float, with room to spare.
constexpr double largest_norm = 1e15;

struct block {
  std::size_t tensor;
  std::size_t begin; ///< In the flat vector.
  std::size_t end;
};

/// Cuts every tensor on its own, so that a tensor's norm is a sum over blocks.
std::vector<block> cut(const model_layout& layout) {
  std::vector<block> blocks;
  const auto& entries = layout.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::size_t end = entries[i].offset + entries[i].values;
    for (std::size_t begin = entries[i].offset; begin < end;
         begin += block_values)
      blocks.push_back({i, begin, std::min(begin + block_values, end)});
  }
  return blocks;
}

/// Calls `work(i)` for every i below `count`, on up to `threads` threads.
template <class Work>
void for_each_index(std::size_t count, unsigned threads, const Work& work) {
  std::size_t workers = std::min<std::size_t>(threads, count);
  auto share = [&](std::size_t worker) {
    std::size_t end = count * (worker + 1) / workers;
    for (std::size_t i = count * worker / workers; i < end; ++i)
      work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t worker = 1; worker < workers; ++worker)
    others.emplace_back(share, worker);
  if (workers > 0)
    share(0);
  for (auto& x : others)
    x.join();
}

double total(const double (&partial)[lanes]) {
  double sum = 0;
  for (double x : partial)
    sum += x;
  return sum;
}

/// Sum of the squares of one block.
POTLUCK_WIDE double block_squares(const float* values, std::size_t size) {
  double partial[lanes] = {};
  std::size_t whole = size / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double x = values[i + lane];
      partial[lane] += x * x;
    }
  for (std::size_t i = whole; i < size; ++i) {
    double x = values[i];
    partial[i - whole] += x * x;
  }
  return total(partial);
}

/// The numbers of one update, as floats: what the loops over values need.
struct coefficients {
  float scale; ///< Of the gradient: clipping.
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float m_correction, v_correction; ///< 1 / (1 - beta^step)
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

/// The direction r of Algorithm 2, with the weight decay added.
inline float direction(const coefficients& c, float decay, float x, float m,
                       float v) {
  return m * c.m_correction / (std::sqrt(v * c.v_correction) + c.epsilon)
         + decay * x;
}

POTLUCK_WIDE double direction_squares(const coefficients& c, float decay,
                                      const float* x, const float* m,
                                      const float* v, std::size_t size) {
  float direction_of[lanes];
  double partial[lanes] = {};
  std::size_t whole = size / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane)
      direction_of[lane]
          = direction(c, decay, x[i + lane], m[i + lane], v[i + lane]);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      double r = direction_of[lane];
      partial[lane] += r * r;
    }
  }
  for (std::size_t i = whole; i < size; ++i) {
    double r = direction(c, decay, x[i], m[i], v[i]);
    partial[i - whole] += r * r;
  }
  return total(partial);
}

POTLUCK_WIDE void move(const coefficients& c, float decay, float rate, float* x,
                       const float* m, const float* v, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    x[i] -= rate * direction(c, decay, x[i], m[i], v[i]);
}

} // namespace

double exact_power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1)
      result *= base;
    base *= base;
  }
  return result;
}

double learning_rate_at(const run_settings& settings, std::uint64_t step) {
  auto real = [](std::uint64_t x) { return static_cast<double>(x); };
  if (step == 0 || step > settings.steps)
    return 0;
  if (step <= settings.warmup_steps)
    return settings.learning_rate * real(step) / real(settings.warmup_steps);
  return settings.learning_rate * real(settings.steps - step + 1)
         / real(settings.steps - settings.warmup_steps + 1);
}

setting_kind lamb_kind() {
  using real = declared_setting::real_limits;
  const std::string section = "optimizer";
  return {"lamb",
          "LAMB (You et al. 2019)",
          {{"beta1", section, "Memory of the gradient", real{0, 1, true, false},
            "0.9"},
           {"beta2", section, "Memory of the squared gradient",
            real{0, 1, true, false}, "0.999"},
           {"epsilon", section, "Guard against division by zero",
            real{1e-30, 1, true, true}, "1e-06"},
           {"weight-decay", section,
            "Share of a parameter that is added to its direction",
            real{0, 1, true, true}, "0.01"}}};
}

optimizer::optimizer(const run_settings& settings, unsigned threads)
    : settings_(settings), threads_(std::max(1u, threads)) {
  const auto kind = lamb_kind();
  const kind_settings own{kind, settings};
  beta1_ = own.real("beta1");
  beta2_ = own.real("beta2");
  epsilon_ = own.real("epsilon");
  weight_decay_ = own.real("weight-decay");
}

optimizer::verdict optimizer::apply(const model_layout& layout,
                                    float* parameters, float* m, float* v,
                                    const float* mean_gradient,
                                    std::uint64_t step, state_digests* digests,
                                    std::optional<double> rate) const {
  if (step == 0)
    throw std::invalid_argument("optimizer: updates are counted from 1");
  const standard_arithmetic standard;
  const auto blocks = cut(layout);
  const auto& entries = layout.entries();
  std::vector<double> squares(blocks.size());
  std::vector<double> direction_norms(blocks.size());

  for_each_index(blocks.size(), threads_, [&](std::size_t i) {
    const auto& b = blocks[i];
    squares[i] = block_squares(mean_gradient + b.begin, b.end - b.begin);
  });
  double gradient_squares = 0;
  for (double x : squares)
    gradient_squares += x;
  double norm = std::sqrt(gradient_squares);
  double scale = settings_.clip_norm > 0 && norm > settings_.clip_norm
                     ? settings_.clip_norm / norm
                     : 1;
  // Written so that a NaN is refused too.
  if (!(norm * scale <= largest_norm))
    return verdict::unusable;

  coefficients c;
  c.scale = static_cast<float>(scale);
  c.beta1 = static_cast<float>(beta1_);
  c.one_minus_beta1 = static_cast<float>(1 - beta1_);
  c.beta2 = static_cast<float>(beta2_);
  c.one_minus_beta2 = static_cast<float>(1 - beta2_);
  c.m_correction = static_cast<float>(1 / (1 - exact_power(beta1_, step)));
  c.v_correction = static_cast<float>(1 / (1 - exact_power(beta2_, step)));
  c.epsilon = static_cast<float>(epsilon_);
  const auto weight_decay = static_cast<float>(weight_decay_);
  // Blocks lie behind each other, and one thread takes them in order.
  const bool streams = digests != nullptr && threads_ == 1;
  digest_stream of_m, of_v, of_parameters;

  for_each_index(blocks.size(), threads_, [&](std::size_t i) {
    const auto& b = blocks[i];
    std::size_t size = b.end - b.begin;
    update_moments(c, mean_gradient + b.begin, m + b.begin, v + b.begin, size);
    if (streams) {
      of_m.add(m + b.begin, size * sizeof(float));
      of_v.add(v + b.begin, size * sizeof(float));
    }
    if (!entries[b.tensor].decays)
      return;
    squares[i] = block_squares(parameters + b.begin, size);
    direction_norms[i] = direction_squares(
        c, weight_decay, parameters + b.begin, m + b.begin, v + b.begin, size);
  });

  // A tensor's trust ratio: its norm over that of its direction; 1 if either
  // is zero, so that a tensor of zeros can leave zero.
  std::vector<double> tensor_squares(entries.size());
  std::vector<double> tensor_directions(entries.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    tensor_squares[blocks[i].tensor] += squares[i];
    tensor_directions[blocks[i].tensor] += direction_norms[i];
  }
  const double learning_rate = rate ? *rate : learning_rate_at(settings_, step);
  std::vector<float> rates(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    double trust = 1;
    if (entries[i].decays && tensor_squares[i] > 0 && tensor_directions[i] > 0)
      trust = std::sqrt(tensor_squares[i]) / std::sqrt(tensor_directions[i]);
    rates[i] = static_cast<float>(learning_rate * trust);
  }

  for_each_index(blocks.size(), threads_, [&](std::size_t i) {
    const auto& b = blocks[i];
    float decay = entries[b.tensor].decays ? weight_decay : 0.0f;
    move(c, decay, rates[b.tensor], parameters + b.begin, m + b.begin,
         v + b.begin, b.end - b.begin);
    if (streams)
      of_parameters.add(parameters + b.begin,
                        (b.end - b.begin) * sizeof(float));
  });
  if (streams) {
    *digests = {of_parameters.result(), of_m.result(), of_v.result()};
  } else if (digests != nullptr) {
    const float* vectors[] = {parameters, m, v};
    digest made[3];
    for_each_index(3, threads_, [&](std::size_t i) {
      made[i] = digest_of(vectors[i], layout.values() * sizeof(float));
    });
    *digests = {made[0], made[1], made[2]};
  }
  return verdict::applied;
}

} // namespace potluck
