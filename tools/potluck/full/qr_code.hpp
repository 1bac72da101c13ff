/// A text as a QR code that a telephone reads off the terminal.
#pragma once

#include <string>

#include "messages/expected.hpp"

namespace potluck::tools {

/// Lines of block characters (UTF-8), two rows of the code in each, black on
/// white whatever the terminal's colours are, with the quiet zone around it.
/// @param text Capitals and digits take the least room.
expected<std::string> qr_code(const std::string& text);

} // namespace potluck::tools
