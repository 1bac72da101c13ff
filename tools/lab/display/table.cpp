#include "tools/lab/display/table.hpp"

#include <algorithm>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether the cell is read as a number, perhaps with its unit.
bool looks_numeric(const std::string& cell) {
  if (cell.empty() || cell == "-")
    return true;
  if (cell[0] == '-' || cell[0] == '+')
    return cell.size() > 1 && is_digit(cell[1]);
  return is_digit(cell[0]);
}

struct column {
  std::size_t width = 0;
  bool numeric = true;
};

} // namespace

std::string table(const std::vector<std::vector<std::string>>& given) {
  auto rows = given;
  for (auto& row : rows)
    for (auto& cell : row)
      cell = harmless(cell);
  std::vector<column> columns;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    columns.resize(std::max(columns.size(), rows[row].size()));
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      columns[i].width = std::max(columns[i].width, columns_of(rows[row][i]));
      if (row > 0 && !looks_numeric(rows[row][i]))
        columns[i].numeric = false;
    }
  }
  std::string text;
  auto add_line = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string cell = cell_of(i);
      std::string gap(columns[i].width - columns_of(cell), ' ');
      line += i == 0 ? "" : "  ";
      line += columns[i].numeric ? gap + cell : cell + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    add_line([&](std::size_t i) {
      return i < rows[row].size() ? rows[row][i] : std::string{};
    });
    if (row == 0)
      add_line(
          [&](std::size_t i) { return std::string(columns[i].width, '-'); });
  }
  return text;
}

} // namespace potluck
