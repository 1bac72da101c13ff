#include <algorithm>
#include <iterator>

#include "runtime/numbers.hpp"
#include "tools/lab/display/curve_scale.hpp"
#include "tools/lab/display/loss_curve.hpp"

namespace potluck {

namespace {

constexpr double width = 800, height = 480;
constexpr double left = 70, right = 780, top = 50, bottom = 420;
constexpr double legend_line = 18;
constexpr int wanted_ticks = 7;

const char* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                               "#e69f00", "#56b4e9", "#000000", "#f0e442"};

std::string escape(const std::string& text) {
  std::string result;
  for (char c : harmless(text))
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  return result;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}

std::string attribute(const char* name, double value) {
  return attribute(name, readable(value, 6));
}

std::string line(double x1, double y1, double x2, double y2,
                 const char* colour) {
  return "<line" + attribute("x1", x1) + attribute("y1", y1)
         + attribute("x2", x2) + attribute("y2", y2)
         + attribute("stroke", std::string(colour)) + "/>\n";
}

/// @param more Further attributes.
std::string text(double x, double y, const std::string& content,
                 const char* anchor, const std::string& more = "") {
  return "<text" + attribute("x", x) + attribute("y", y)
         + attribute("text-anchor", std::string(anchor)) + more + ">"
         + escape(content) + "</text>\n";
}

class drawing {
public:
  explicit drawing(const curve_scale& scale) : scale_(scale) {
  }

  std::string axes() const {
    std::string svg;
    for (double tick : ticks(scale_.x)) {
      svg += line(x(tick), top, x(tick), bottom, "#e5e5e5");
      svg += text(x(tick), bottom + 18, readable(tick, 6), "middle");
    }
    for (double tick : ticks(scale_.y)) {
      svg += line(left, y(tick), right, y(tick), "#e5e5e5");
      svg += text(left - 8, y(tick) + 4, readable(tick, 6), "end");
    }
    return svg;
  }

  /// A line through every stretch of points, a dot for a point alone.
  std::string plot(const std::vector<curve_point>& points,
                   const char* colour) const {
    std::string svg;
    auto i = points.begin();
    while (i != points.end()) {
      i = std::find_if(i, points.end(), is_drawable);
      auto end = std::find_if_not(i, points.end(), is_drawable);
      if (end - i == 1)
        svg += "<circle" + attribute("cx", x(i->x)) + attribute("cy", y(i->y))
               + attribute("r", 3) + attribute("fill", std::string(colour))
               + "/>\n";
      else if (end != i)
        svg += polyline(i, end, colour);
      i = end;
    }
    return svg;
  }

private:
  using iterator = std::vector<curve_point>::const_iterator;

  std::string polyline(iterator i, iterator end, const char* colour) const {
    std::string svg = "<polyline fill=\"none\" stroke-width=\"1.5\""
                      + attribute("stroke", std::string(colour)) + " points=\"";
    for (auto p = i; p != end; ++p)
      svg += (p == i ? "" : " ") + readable(x(p->x), 6) + ","
             + readable(y(p->y), 6);
    return svg + "\"/>\n";
  }

  static std::vector<double> ticks(const axis_range& range) {
    return round_ticks(range.low, range.high, wanted_ticks);
  }

  double x(double value) const {
    return left + (right - left) * scale_.x.place(value);
  }
  double y(double value) const {
    return bottom - (bottom - top) * scale_.y.place(value);
  }

  curve_scale scale_;
};

std::string legend(const std::vector<curve>& series) {
  std::string svg;
  double y = top + legend_line;
  for (std::size_t i = 0; i < series.size(); ++i, y += legend_line) {
    svg += "<rect" + attribute("x", right - 22) + attribute("y", y - 9)
           + " width=\"14\" height=\"4\""
           + attribute("fill", std::string(colours[i % std::size(colours)]))
           + "/>\n";
    svg += text(right - 28, y - 3, series[i].name, "end");
  }
  return svg;
}

} // namespace

std::string loss_curve_svg(const std::vector<curve>& series,
                           const curve_labels& labels) {
  curve_scale scale;
  for (const auto& x : series)
    scale.include(x.points);
  std::string svg
      = "<svg xmlns=\"http://www.w3.org/2000/svg\""
        + attribute("viewBox",
                    "0 0 " + readable(width) + " " + readable(height))
        + " font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  if (!labels.title.empty())
    svg += text(width / 2, 28, labels.title, "middle", " font-size=\"16\"");
  if (scale.empty) {
    svg += text((left + right) / 2, (top + bottom) / 2, "no points to draw yet",
                "middle");
  } else {
    scale.x.widen();
    scale.y.widen();
    drawing figure(scale);
    svg += figure.axes();
    for (std::size_t i = 0; i < series.size(); ++i)
      svg += figure.plot(series[i].points, colours[i % std::size(colours)]);
  }
  svg += line(left, bottom, right, bottom, "#333333");
  svg += line(left, top, left, bottom, "#333333");
  svg += text((left + right) / 2, height - 18, labels.x, "middle");
  svg += text(18, (top + bottom) / 2, labels.y, "middle",
              " transform=\"rotate(-90 18 " + readable((top + bottom) / 2, 6)
                  + ")\"");
  svg += legend(series);
  return svg + "</svg>\n";
}

} // namespace potluck
