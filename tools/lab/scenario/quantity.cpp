#include "tools/lab/scenario/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tools/lab/scenario/portable_math.hpp"

namespace potluck {

namespace {

constexpr double longest_seconds = 100.0 * 366 * 24 * 3600;

} // namespace

double quantity::draw(random_stream& chance) const {
  switch (kind) {
    case law::constant:
      return a;
    case law::uniform:
      return a + (b - a) * chance.uniform01();
    case law::exponential:
      return -a * portable_log(1 - chance.uniform01());
    case law::lognormal:
      return a * portable_exp(b * portable_normal(chance));
  }
  throw std::logic_error("a quantity follows no law.");
}

duration to_duration(double seconds) {
  if (!(seconds > 0))
    return duration{0};
  return duration{static_cast<duration::rep>(
      std::floor(std::min(seconds, longest_seconds) * 1e9 + 0.5))};
}

double to_seconds(duration x) {
  return static_cast<double>(x.count()) / 1e9;
}

} // namespace potluck
