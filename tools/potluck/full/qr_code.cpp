#include "tools/potluck/full/qr_code.hpp"

#include <memory>

#include <qrencode.h>

namespace potluck::tools {

expected<std::string> qr_code(const std::string& text) {
  // A screen does not get dirty: the least correction, the smallest code.
  const std::unique_ptr<QRcode, void (*)(QRcode*)> code{
      QRcode_encodeString(text.c_str(), 0, QR_ECLEVEL_L, QR_MODE_8, 1),
      QRcode_free};
  if (!code)
    return failure{"no QR code holds so much"};
  constexpr int quiet = 4; // Modules around it: ISO/IEC 18004.
  const int width = code->width;
  const auto black = [&](int row, int column) {
    return row >= 0 && row < width && column >= 0 && column < width
           && (code->data[row * width + column] & 1) != 0;
  };
  std::string result;
  for (int row = -quiet; row < width + quiet; row += 2) {
    result += "\x1b[40;97m"; // White on black: what is drawn is the white.
    for (int column = -quiet; column < width + quiet; ++column) {
      const bool above = black(row, column);
      const bool below = black(row + 1, column);
      result += above ? (below ? " " : "\u2584") : below ? "\u2580" : "\u2588";
    }
    result += "\x1b[0m\n";
  }
  return result;
}

} // namespace potluck::tools
