/// Sixteen peers train a softmax regression, and seven of them attack: the
/// setting of Gorbunov et al. 2021 (arXiv 2106.11257), on generated data.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "runtime/averaging/chunk_average.hpp"

using namespace potluck;

namespace {

constexpr std::size_t inputs = 24;
constexpr std::size_t classes = 4;
constexpr std::size_t values = inputs * classes;
constexpr std::size_t peers = 16;
constexpr std::size_t hostile = 7;
constexpr std::uint64_t batch = 2048;
constexpr std::size_t honest_steps = 30;
constexpr double rate = 0.1;

struct sample {
  std::array<float, inputs> x;
  std::size_t label;
};

/// Points around one center for each class, which overlap a little.
class generated_data {
public:
  explicit generated_data(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (auto& center : centers_)
      for (auto& x : center)
        x = normal(random);
  }
  sample draw(std::mt19937_64& random) const {
    sample s;
    s.label = random() % classes;
    for (std::size_t i = 0; i < inputs; ++i)
      s.x[i] = 0.5f * centers_[s.label][i] + normal(random);
    return s;
  }

private:
  static float normal(std::mt19937_64& random) {
    return std::normal_distribution<float>{}(random);
  }
  std::array<std::array<float, inputs>, classes> centers_;
};

/// Adds the gradient of one sample; returns its loss.
double learn(const std::vector<float>& w, const sample& s,
             std::vector<float>& gradient) {
  std::array<double, classes> p{};
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t i = 0; i < inputs; ++i)
      p[c] += static_cast<double>(w[c * inputs + i] * s.x[i]);
  auto top = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (auto& x : p)
    sum += x = std::exp(x - top);
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t i = 0; i < inputs; ++i)
      gradient[c * inputs + i]
          += static_cast<float>(p[c] / sum - (c == s.label)) * s.x[i];
  return -std::log(p[s.label] / sum);
}

enum class attack {
  none,
  sign_flip,
  constant_direction,
  large_norm,
  label_flip
};

/// The loss on held-out samples after each step.
std::vector<double> train(attack how, const averaging_rule& rule,
                          std::size_t steps) {
  generated_data data{7};
  std::mt19937_64 random{11};
  std::vector<sample> pool; // Drawing each anew would take most of the time.
  for (int i = 0; i < 20000; ++i)
    pool.push_back(data.draw(random));
  std::vector<sample> test;
  for (int i = 0; i < 500; ++i)
    test.push_back(data.draw(random));
  std::vector<float> w(values, 0.0f);
  std::vector<float> unused(values, 0.0f);
  std::vector<double> losses;
  for (std::size_t step = 0; step < steps; ++step) {
    chunk_average average{values, std::vector<std::uint64_t>(peers, batch),
                          rule};
    for (std::size_t peer = 0; peer < peers; ++peer) {
      bool attacks = peer < hostile && how != attack::none;
      std::vector<float> gradient(values, 0.0f);
      for (std::uint64_t i = 0; i < batch; ++i) {
        auto s = pool[random() % pool.size()];
        if (attacks && how == attack::label_flip)
          s.label = classes - 1 - s.label;
        learn(w, s, gradient);
      }
      for (std::size_t i = 0; attacks && i < values; ++i) {
        if (how == attack::sign_flip)
          gradient[i] *= -3;
        else if (how == attack::constant_direction)
          gradient[i] = i % 2 == 0 ? 100.0f : -100.0f;
        else if (how == attack::large_norm)
          gradient[i] *= -1000;
      }
      average.offer(peer, batch, gradient.data(), values);
    }
    auto& mean = average.mean();
    for (std::size_t i = 0; i < values; ++i)
      w[i] -= static_cast<float>(rate) * mean[i];
    double loss = 0;
    for (auto& s : test)
      loss += learn(w, s, unused);
    losses.push_back(loss / static_cast<double>(test.size()));
  }
  return losses;
}

std::size_t steps_to(double loss, const std::vector<double>& losses) {
  std::size_t i = 0;
  while (i < losses.size() && !(losses[i] <= loss))
    ++i;
  return i + 1;
}

} // namespace

TEST_CASE("7 attackers of 16 cost centered clipping a few steps, and the mean "
          "everything") {
  auto honest = train(attack::none, {}, honest_steps);
  auto goal = honest.back();
  auto limit = honest_steps * 13 / 10;
  averaging_rule rule;
  rule.how = aggregator::centered_clip;
  for (auto how : {attack::sign_flip, attack::constant_direction,
                   attack::large_norm, attack::label_flip}) {
    auto robust = train(how, rule, limit);
    auto naive = train(how, {}, limit);
    CAPTURE(static_cast<int>(how));
    CAPTURE(goal);
    CAPTURE(robust.back());
    CAPTURE(naive.back());
    CAPTURE(steps_to(goal, robust));
    INFO("honest at first ", honest.front());
    CHECK(steps_to(goal, robust) <= limit);
    CHECK(steps_to(goal, naive) > limit);
  }
}
