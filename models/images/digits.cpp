#include "models/images/digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/random.hpp"

namespace potluck {

namespace {

struct point {
  double x;
  double y;
};
using stroke = std::vector<point>;

constexpr double pi = 3.14159265358979323846;

/// Part of an ellipse, from one angle to another, in degrees; 0 is to the
/// right, 90 down.
stroke arc(double x, double y, double width, double height, double from,
           double to) {
  stroke result;
  constexpr int pieces = 12;
  for (int i = 0; i <= pieces; ++i) {
    const auto angle = (from + (to - from) * i / pieces) * pi / 180;
    result.push_back(
        {x + width * std::cos(angle), y + height * std::sin(angle)});
  }
  return result;
}

/// In a box from (-1, -1), above on the left, to (1, 1).
const std::array<std::vector<stroke>, 10>& shapes() {
  static const std::array<std::vector<stroke>, 10> all{{
      {arc(0, 0, 0.6, 0.95, 0, 360)},
      {{{-0.35, -0.6}, {0.05, -0.95}, {0.05, 0.95}}},
      {arc(0, -0.45, 0.55, 0.5, -170, 40),
       {{0.42, -0.13}, {-0.6, 0.95}, {0.65, 0.95}}},
      {arc(-0.05, -0.48, 0.5, 0.47, -150, 90),
       arc(-0.05, 0.47, 0.58, 0.48, -90, 150)},
      {{{0.25, 0.95}, {0.25, -0.95}, {-0.65, 0.35}, {0.65, 0.35}}},
      {{{0.55, -0.95}, {-0.4, -0.95}, {-0.45, -0.15}},
       arc(-0.05, 0.38, 0.58, 0.57, -130, 140)},
      {{{0.35, -0.95}, {-0.3, -0.3}, {-0.53, 0.3}},
       arc(0, 0.42, 0.54, 0.53, 0, 360)},
      {{{-0.6, -0.95}, {0.6, -0.95}, {-0.15, 0.95}}},
      {arc(0, -0.47, 0.46, 0.46, 0, 360), arc(0, 0.47, 0.56, 0.48, 0, 360)},
      {arc(0, -0.42, 0.54, 0.53, 0, 360),
       {{0.53, -0.3}, {0.45, 0.3}, {0.1, 0.95}}},
  }};
  return all;
}

double distance(const point& p, const point& a, const point& b) {
  const auto dx = b.x - a.x;
  const auto dy = b.y - a.y;
  const auto length = dx * dx + dy * dy;
  const auto along
      = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length,
                                0.0, 1.0)
                   : 0.0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

/// What one hand does to all points of a digit.
class hand {
public:
  explicit hand(random_stream& chance)
      : turn_(around(chance, 0, 0.22)), shear_(around(chance, 0, 0.25)),
        width_(around(chance, 0.95, 0.2)), height_(around(chance, 1, 0.15)),
        bend_x_(around(chance, 0, 0.12)), bend_y_(around(chance, 0, 0.12)),
        phase_(chance.uniform01() * 2 * pi), x_(around(chance, 0, 2.2)),
        y_(around(chance, 0, 1.8)), pen_(0.9 + 0.9 * chance.uniform01()) {
  }

  /// In pixels.
  point operator()(const point& p) const {
    const auto x = p.x + bend_x_ * std::sin(2.5 * p.y + phase_);
    const auto y = p.y + bend_y_ * std::sin(2.5 * p.x + phase_);
    const auto wide = width_ * x + shear_ * y;
    const auto high = height_ * y;
    constexpr double half = 9;
    constexpr double middle = (digit_side - 1) / 2.0;
    return {
        middle + x_ + half * (wide * std::cos(turn_) - high * std::sin(turn_)),
        middle + y_ + half * (wide * std::sin(turn_) + high * std::cos(turn_))};
  }

  double pen() const {
    return pen_;
  }

private:
  /// Uniform, up to `spread` on either side.
  static double around(random_stream& chance, double middle, double spread) {
    return middle + spread * (2 * chance.uniform01() - 1);
  }

  double turn_, shear_, width_, height_, bend_x_, bend_y_, phase_, x_, y_, pen_;
};

void draw(unsigned digit, random_stream& chance, std::uint8_t* out) {
  const hand moved(chance);
  std::vector<stroke> strokes;
  for (const auto& shape : shapes()[digit]) {
    stroke x;
    for (const auto& p : shape)
      x.push_back(moved(p));
    strokes.push_back(std::move(x));
  }
  for (std::uint32_t row = 0; row < digit_side; ++row)
    for (std::uint32_t column = 0; column < digit_side; ++column) {
      const point here{static_cast<double>(column), static_cast<double>(row)};
      auto nearest = 1e9;
      for (const auto& x : strokes)
        for (std::size_t i = 0; i + 1 < x.size(); ++i)
          nearest = std::min(nearest, distance(here, x[i], x[i + 1]));
      // Ink fades out over one pixel.
      const auto ink = std::clamp(moved.pen() + 0.5 - nearest, 0.0, 1.0);
      const auto noise = 24 * (chance.uniform01() - 0.5);
      *out++ = static_cast<std::uint8_t>(
          std::clamp(255 * ink + (ink > 0 ? noise : 0), 0.0, 255.0));
    }
}

} // namespace

image_set draw_digits(std::size_t count, std::uint64_t seed) {
  image_set result;
  result.rows = digit_side;
  result.columns = digit_side;
  result.pixels.resize(count * result.values());
  for (std::size_t i = 0; i < count; ++i) {
    random_stream chance(mix(seed, i));
    const auto digit = static_cast<unsigned>(i % shapes().size());
    result.labels.push_back(static_cast<std::uint8_t>(digit));
    draw(digit, chance, result.pixels.data() + i * result.values());
  }
  return result;
}

} // namespace potluck
