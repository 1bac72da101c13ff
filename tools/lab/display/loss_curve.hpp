/// Curves of the loss over steps, as text for a terminal and as SVG for a page.
///
/// Points that are not finite (or beyond 1e300) are skipped and leave a gap.
/// The number of points is bounded by the caller's memory only; a file of
/// millions is large.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace potluck {

struct curve_point {
  double x = 0; ///< The step.
  double y = 0; ///< The loss.
};

struct curve {
  std::string name; ///< Any text: it is escaped.
  std::vector<curve_point> points;
};

enum class curve_letters {
  unicode, ///< Braille: two by four dots a letter.
  ascii,
};

/// A chart of at most `width` columns and exactly `height` lines (24 by 5 at
/// least, or as if) with both axes and their numbers. Says so when there is no
/// point to show.
std::string loss_curve_text(const std::vector<curve_point>& points,
                            std::size_t width, std::size_t height,
                            curve_letters letters = curve_letters::unicode);

struct curve_labels {
  std::string title;
  std::string x = "step";
  std::string y = "loss";
};

/// A stand-alone SVG document with axes, ticks, labels and a legend of the
/// names; the colours can be told apart by most colour-blind people (Okabe and
/// Ito 2008) and repeat after eight.
std::string loss_curve_svg(const std::vector<curve>& series,
                           const curve_labels& labels = {});

} // namespace potluck
