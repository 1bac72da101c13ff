/// Rates and sizes as people write them.
#pragma once

#include <string>

#include "messages/expected.hpp"

namespace potluck {

/// Bytes per second from "10mbit", "10 Mbit/s", "800kbit/s", "64000bit",
/// "500kB" or "2MB/s". A number alone is refused, for it could be bits or
/// bytes, and so is what is not above zero. Fails with a sentence.
expected<double> read_rate(const std::string& text);

/// Bytes from "500GB", "1.5 TB", "512MB" or "64kB", a thousand to the next
/// unit. Fails with a sentence, as for what is not above zero.
expected<double> read_bytes(const std::string& text);

} // namespace potluck
