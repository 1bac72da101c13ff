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

bool contains(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

std::vector<curve_point> falling() {
  std::vector<curve_point> points;
  for (int i = 0; i <= 100; ++i)
    points.push_back({double(i), 8 - 0.05 * i});
  return points;
}

/// The letters of a line: ' ', or a Braille one's dots.
std::vector<int> letters(const std::string& line) {
  std::vector<int> result;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '\xe2') {
      result.push_back((line[i + 1] & 3) << 6 | (line[i + 2] & 63));
      i += 2;
    } else {
      result.push_back(' ');
    }
  return result;
}

/// The rows of the lowest dots, column by column; -1 where there is none.
std::vector<int> heights(const std::string& chart) {
  std::vector<int> rows;
  auto lines = lines_of(chart);
  for (std::size_t row = 0; row + 2 < lines.size(); ++row) {
    auto cells = letters(lines[row]);
    rows.resize(std::max(rows.size(), cells.size()), -1);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (cells[i] != ' ')
        rows[i] = int(row);
  }
  return rows;
}

} // namespace

TEST_CASE("a falling loss falls from the upper left to the lower right") {
  auto chart = loss_curve_text(falling(), 60, 15);
  auto rows = heights(chart);
  rows.erase(rows.begin(), std::find_if(rows.begin(), rows.end(),
                                        [](int row) { return row >= 0; }));
  REQUIRE(rows.size() > 40);
  CHECK(rows.front() == 0);
  CHECK(rows.back() == 12);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
}

TEST_CASE("a chart has the size asked for and numbers on both axes") {
  auto lines = lines_of(loss_curve_text(falling(), 60, 15));
  REQUIRE(lines.size() == 15);
  for (const auto& line : lines)
    CHECK(columns_of(line) <= 60);
  CHECK(lines[0].find("  8 +") == 0);
  CHECK(lines[12].find("  3 +") == 0);
  CHECK(contains(lines[13], "+----"));
  CHECK(contains(lines[14], "0"));
  CHECK(lines[14].substr(lines[14].size() - 3) == "100");
}

TEST_CASE("charts of few, equal or odd points are charts all the same") {
  using points = std::vector<curve_point>;
  const double big = 1e300;
  for (const auto& x :
       {points{{5, 2}}, points{{5, 2}, {5, 2}}, points{{0, 3}, {9, 3}},
        points{{0, 1}, {nan, 1}, {2, nan}, {3, 4}}, points{{9, 1}, {0, 2}},
        points{{0, -big}, {1, big}}, points{{0, 1e-300}, {1, 2e-300}}})
    for (std::size_t size : {0u, 1u, 24u, 100u}) {
      auto chart = loss_curve_text(x, size, size);
      CAPTURE(chart);
      CHECK(contains(chart, "\xe2\xa0"));
      CHECK(lines_of(chart).size() == std::max<std::size_t>(size, 5));
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
  }
}

TEST_CASE("points that are not finite leave a gap") {
  auto rows = heights(
      loss_curve_text({{0, 1}, {1, 2}, {2, nan}, {3, 2}, {4, 1}}, 60, 10));
  auto drawn = [](int row) { return row >= 0; };
  auto begin = std::find_if(rows.begin(), rows.end(), drawn);
  auto gap = std::find_if_not(begin, rows.end(), drawn);
  CHECK(gap != rows.end());
  CHECK(std::any_of(gap, rows.end(), drawn));
}
