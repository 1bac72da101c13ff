#include "tools/lab/display/loss_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

/// Beyond 1e300 the length of an axis could overflow. False for NaN.
bool is_drawable(const curve_point& p) {
  return std::fabs(p.x) <= 1e300 && std::fabs(p.y) <= 1e300;
}

/// The range of one axis.
struct axis_range {
  double low;
  double high;

  void include(double value) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }

  /// Makes room around a range of (almost) no length, so that it can divide.
  void widen() {
    double least = std::fmax(std::fabs(low), std::fabs(high)) * 1e-9 + 1e-12;
    if (high - low < least) {
      double room = std::fmax(std::fabs(low) * 0.1, 0.5);
      low -= room;
      high += room;
    }
  }

  /// 0 at `low`, 1 at `high`.
  double place(double value) const {
    return (value - low) / (high - low);
  }
};

/// A canvas of Braille letters.
class dots {
public:
  dots(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), cells_(columns * rows) {
  }

  /// From 0 to 1, from the lower left corner.
  void draw_line(double x0, double y0, double x1, double y1) {
    long left = column_of(x0), right = column_of(x1);
    long from = row_of(y0), to = row_of(y1);
    long steps = std::max(std::labs(right - left), std::labs(to - from));
    for (long i = 0; i <= steps; ++i) {
      auto between = [&](long a, long b) {
        return steps == 0 ? a : a + (b - a) * i / steps;
      };
      set(between(left, right), between(from, to));
    }
  }

  std::string line(std::size_t row) const {
    std::string text;
    for (std::size_t i = 0; i < columns_; ++i)
      text += letter(cells_[row * columns_ + i]);
    return text;
  }

private:
  long column_of(double x) const {
    return std::lround(x * static_cast<double>(columns_ * across_ - 1));
  }
  long row_of(double y) const {
    return std::lround((1 - y) * static_cast<double>(rows_ * down_ - 1));
  }

  void set(long x, long y) {
    // Braille numbers its dots down the left column, then the right; the
    // fourth row was added later.
    static const unsigned char bits[4][2]
        = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    auto column = static_cast<std::size_t>(x),
         row = static_cast<std::size_t>(y);
    cells_[row / down_ * columns_ + column / across_]
        |= bits[row % down_][column % across_];
  }

  static std::string letter(unsigned char cell) {
    if (cell == 0)
      return " ";
    // U+2800 plus the dots, in UTF-8.
    return {static_cast<char>(0xe2), static_cast<char>(0xa0 | cell >> 6),
            static_cast<char>(0x80 | (cell & 63))};
  }

  static constexpr std::size_t across_ = 2, down_ = 4; ///< Dots in a letter.

  std::size_t columns_, rows_;
  std::vector<unsigned char> cells_;
};

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

} // namespace

std::string loss_curve_text(const std::vector<curve_point>& points,
                            std::size_t width, std::size_t height) {
  width = std::max<std::size_t>(width, 24);
  height = std::max<std::size_t>(height, 5);
  auto some = std::find_if(points.begin(), points.end(), is_drawable);
  if (some == points.end())
    return "(no points to draw yet)" + std::string(height, '\n');
  axis_range across{some->x, some->x}, up{some->y, some->y};
  for (const auto& p : points)
    if (is_drawable(p)) {
      across.include(p.x);
      up.include(p.y);
    }
  const std::string first = readable(across.low, 6);
  const std::string last = readable(across.high, 6);
  across.widen();
  up.widen();

  // Two lines below the drawing hold the axis and its numbers.
  const std::size_t rows = height - 2;
  std::vector<std::string> marks(rows);
  std::size_t margin = 0;
  for (std::size_t row : {std::size_t{0}, rows / 2, rows - 1}) {
    double from_top = static_cast<double>(row) / static_cast<double>(rows - 1);
    marks[row] = readable(up.high * (1 - from_top) + up.low * from_top);
    margin = std::max(margin, marks[row].size());
  }
  const std::size_t columns = width - margin - 2;
  dots canvas(columns, rows);
  const curve_point* previous = nullptr;
  for (const auto& p : points) {
    if (!is_drawable(p)) {
      previous = nullptr;
      continue;
    }
    const auto& from = previous ? *previous : p;
    canvas.draw_line(across.place(from.x), up.place(from.y), across.place(p.x),
                     up.place(p.y));
    previous = &p;
  }

  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line = right_aligned(marks[row], margin)
                       + (marks[row].empty() ? " |" : " +") + canvas.line(row);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  std::string indent(margin + 1, ' ');
  text += indent + "+" + std::string(columns, '-') + "\n";
  text += indent + " " + first;
  if (last != first && first.size() + last.size() < columns)
    text += right_aligned(last, columns - first.size());
  return text + "\n";
}

} // namespace potluck
