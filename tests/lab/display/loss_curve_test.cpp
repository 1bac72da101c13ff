#include "tools/lab/display/loss_curve.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <sstream>

#include "runtime/numbers.hpp"

using namespace potluck;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++n;
  return n;
}

bool contains(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

std::vector<curve_point> falling() {
  std::vector<curve_point> points;
  for (int i = 0; i <= 100; ++i)
    points.push_back({double(i), 8 - 0.05 * i});
  return points;
}

/// The rows of the stars, column by column; -1 where there is none.
std::vector<int> heights(const std::string& chart) {
  std::vector<int> rows;
  auto lines = lines_of(chart);
  for (std::size_t row = 0; row + 2 < lines.size(); ++row)
    for (std::size_t i = 0; i < lines[row].size(); ++i)
      if (lines[row][i] == '*') {
        rows.resize(std::max(rows.size(), i + 1), -1);
        rows[i] = int(row);
      }
  return rows;
}

/// The y coordinates of the first polyline.
std::vector<double> polyline_heights(const std::string& svg) {
  auto begin = svg.find(" points=\"") + 9;
  std::istringstream in(svg.substr(begin, svg.find('"', begin) - begin));
  std::vector<double> result;
  double x, y;
  char comma;
  while (in >> x >> comma >> y)
    result.push_back(y);
  return result;
}

} // namespace

TEST_CASE("a falling loss falls from the upper left to the lower right") {
  auto chart = loss_curve_text(falling(), 60, 15, curve_letters::ascii);
  auto rows = heights(chart);
  rows.erase(rows.begin(), std::find_if(rows.begin(), rows.end(),
                                        [](int row) { return row >= 0; }));
  REQUIRE(rows.size() > 40);
  CHECK(rows.front() == 0);
  CHECK(rows.back() == 12);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
}

TEST_CASE("a chart has the size asked for and numbers on both axes") {
  for (auto letters : {curve_letters::ascii, curve_letters::unicode}) {
    auto chart = loss_curve_text(falling(), 60, 15, letters);
    auto lines = lines_of(chart);
    REQUIRE(lines.size() == 15);
    for (const auto& line : lines)
      CHECK(columns_of(line) <= 60);
    CHECK(lines[0].find("  8 +") == 0);
    CHECK(lines[12].find("  3 +") == 0);
    CHECK(contains(lines[13], "+----"));
    CHECK(contains(lines[14], "0"));
    CHECK(lines[14].substr(lines[14].size() - 3) == "100");
  }
}

TEST_CASE("braille is used where it can be and only there") {
  CHECK(contains(loss_curve_text(falling(), 60, 15), "\xe2\xa0"));
  for (char c : loss_curve_text(falling(), 60, 15, curve_letters::ascii))
    REQUIRE((c == '\n' || (c >= ' ' && c <= '~')));
}

TEST_CASE("charts of few, equal or odd points are charts all the same") {
  using points = std::vector<curve_point>;
  const double big = 1e300;
  for (const auto& x :
       {points{{5, 2}}, points{{5, 2}, {5, 2}}, points{{0, 3}, {9, 3}},
        points{{0, 1}, {nan, 1}, {2, nan}, {3, 4}}, points{{9, 1}, {0, 2}},
        points{{0, -big}, {1, big}}, points{{0, 1e-300}, {1, 2e-300}}})
    for (std::size_t size : {0u, 1u, 24u, 100u}) {
      auto chart = loss_curve_text(x, size, size, curve_letters::ascii);
      CAPTURE(chart);
      CHECK(contains(chart, "*"));
      CHECK(lines_of(chart).size() == std::max<std::size_t>(size, 5));
      auto svg = loss_curve_svg({{"x", x}});
      CHECK(!contains(svg, "nan"));
      CHECK(!contains(svg, "inf"));
      CHECK(!contains(svg, "\"-\""));
    }
}

TEST_CASE("without a point to draw a chart says so") {
  const double huge = std::numeric_limits<double>::max();
  for (const auto& x : {std::vector<curve_point>{},
                        std::vector<curve_point>{{huge, 1}, {1, -huge}},
                        std::vector<curve_point>{{nan, 1}, {1, nan}}}) {
    auto chart = loss_curve_text(x, 60, 10);
    CHECK(contains(chart, "no points"));
    CHECK(lines_of(chart).size() == 10);
    CHECK(contains(loss_curve_svg({{"x", x}}), "no points"));
  }
  CHECK(contains(loss_curve_svg({}), "no points"));
}

TEST_CASE("an SVG curve falls where the loss does") {
  auto heights = polyline_heights(loss_curve_svg({{"loss", falling()}}));
  REQUIRE(heights.size() == 101);
  CHECK(std::is_sorted(heights.begin(), heights.end()));
  CHECK(heights.front() < heights.back());
}

TEST_CASE("an SVG has a line, a colour and a name for every series") {
  auto svg
      = loss_curve_svg({{"alone", falling()}, {"together", {{0, 1}, {9, 2}}}},
                       {"Loss & time", "step", "loss"});
  CHECK(count(svg, "<polyline") == 2);
  CHECK(contains(svg, ">alone</text>"));
  CHECK(contains(svg, ">together</text>"));
  CHECK(contains(svg, ">Loss &amp; time</text>"));
  CHECK(contains(svg, ">step</text>"));
  CHECK(contains(svg, ">loss</text>"));
  CHECK(contains(svg, ">20</text>"));
  CHECK(count(svg, "#0072b2") == 2);
  CHECK(count(svg, "#d55e00") == 2);
  CHECK(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\"") == 0);
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
}

TEST_CASE("a name cannot break out of the SVG") {
  auto svg = loss_curve_svg({{"</text><script>\"'&\x01", {{0, 1}}}});
  CHECK(!contains(svg, "<script>"));
  CHECK(contains(svg, "&lt;/text&gt;&lt;script&gt;&quot;&#39;&amp;?"));
}

TEST_CASE("points that are not finite leave a gap") {
  auto svg = loss_curve_svg(
      {{"x", {{0, 1}, {1, 2}, {2, nan}, {3, 2}, {4, 1}, {5, nan}, {6, 3}}}});
  CHECK(count(svg, "<polyline") == 2);
  CHECK(count(svg, "<circle") == 1);
}

TEST_CASE("more series than colours are drawn") {
  std::vector<curve> series(20, {"x", {{0, 1}, {1, 2}}});
  CHECK(count(loss_curve_svg(series), "<polyline") == 20);
}
