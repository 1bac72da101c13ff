#include "tools/lab/scenario/portable_math.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace potluck {

namespace {

constexpr double ln2 = 0.693147180559945309417;
constexpr double sqrt_half = 0.707106781186547524401;

} // namespace

double portable_log(double x) {
  if (!(x > 0) || !std::isfinite(x))
    throw std::invalid_argument("portable_log needs a number above zero.");
  int power = 0;
  double m = std::frexp(x, &power); // in [0.5, 1)
  if (m < sqrt_half) {
    m *= 2;
    --power;
  }
  // ln m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2)
    sum = sum * square + 1.0 / k;
  return 2 * s * sum + power * ln2;
}

double portable_exp(double x) {
  if (x < -700)
    return 0;
  x = std::min(x, 700.0);
  const double turns = std::floor(x / ln2 + 0.5);
  const double rest = x - turns * ln2; // |rest| < 0.35
  double sum = 1;
  for (int k = 16; k >= 1; --k)
    sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(turns));
}

double portable_normal(random_stream& chance) {
  for (;;) {
    const double u = 2 * chance.uniform01() - 1;
    const double v = 2 * chance.uniform01() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1)
      return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

} // namespace potluck
