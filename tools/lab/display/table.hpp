/// Aligned columns for a terminal.
#pragma once

#include <string>
#include <vector>

namespace potluck {

/// The first row is the head, underlined. Rows may have different lengths. A
/// column is right-aligned when all its cells below the head start with a digit
/// or a sign before one, or are "-" or empty. Ends with a line end, unless
/// there are no rows.
std::string table(const std::vector<std::vector<std::string>>& rows);

} // namespace potluck
