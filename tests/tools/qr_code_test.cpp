#include "tools/potluck/full/qr_code.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace potluck::tools;

namespace {

/// The modules that the blocks show, true for black; each line shows two rows.
std::vector<std::vector<bool>> modules_of(std::string text) {
  std::vector<std::vector<bool>> rows;
  for (std::size_t i = 0; i < text.size();) {
    auto is = [&](const char* what) {
      const std::string x{what};
      return text.compare(i, x.size(), x) == 0 && (i += x.size(), true);
    };
    auto add = [&](bool above, bool below) {
      (rows.end() - 2)->push_back(above);
      rows.back().push_back(below);
    };
    if (is("\x1b[40;97m"))
      rows.resize(rows.size() + 2);
    else if (is(" "))
      add(true, true);
    else if (is("\u2584"))
      add(true, false);
    else if (is("\u2580"))
      add(false, true);
    else if (is("\u2588"))
      add(false, false);
    else
      REQUIRE((is("\x1b[0m") || is("\n")));
  }
  return rows;
}

} // namespace

TEST_CASE("a QR code shows its three corners in a quiet zone") {
  auto code = qr_code("POTLUCK:" + std::string(340, 'Q'));
  REQUIRE(code);
  const auto rows = modules_of(*code);
  const auto width = rows.front().size();
  CHECK(width <= 80); // A terminal's.
  CHECK(rows.size() >= width);
  const auto far = width - 4 - 7;
  // ISO/IEC 18004: a square of 3 by 3 within a ring of 7 by 7.
  for (auto [top, left] :
       {std::pair<std::size_t, std::size_t>{4, 4}, {4, far}, {far, 4}})
    for (std::size_t r = 0; r < 7; ++r)
      for (std::size_t c = 0; c < 7; ++c) {
        const bool ring = r == 0 || r == 6 || c == 0 || c == 6;
        const bool square = r >= 2 && r <= 4 && c >= 2 && c <= 4;
        CHECK(rows[top + r][left + c] == (ring || square));
      }
  for (auto& row : rows)
    for (std::size_t i = 0; i < 4; ++i)
      CHECK_FALSE((row[i] || row[width - 1 - i]));
}

TEST_CASE("what no QR code holds is refused") {
  CHECK_FALSE(qr_code(std::string(10'000, 'Q')));
}
