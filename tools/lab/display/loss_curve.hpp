/// The curve of the loss over steps, as text for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace potluck {

struct curve_point {
  double x = 0; ///< The step.
  double y = 0; ///< The loss.
};

/// A chart of at most `width` columns and exactly `height` lines (24 by 5 at
/// least, or as if) with both axes and their numbers, drawn in Braille. Says so
/// when there is no point to show. Points that are not finite (or beyond 1e300)
/// are skipped and leave a gap.
std::string loss_curve_text(const std::vector<curve_point>& points,
                            std::size_t width, std::size_t height);

} // namespace potluck
