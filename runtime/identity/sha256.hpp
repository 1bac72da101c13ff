/// SHA-256 (FIPS 180-4): what nobody can find other bytes for, as `digest`
/// (XXH3) is not.
#pragma once

#include <string_view>

#include "messages/ids.hpp"

namespace potluck {

using sha256_digest = identifier<struct sha256_tag, 32>;

/// Throws `std::runtime_error` when OpenSSL fails.
sha256_digest sha256(std::string_view bytes);

} // namespace potluck
