/// What a peer keeps of its admissions for its next start. Pure; README.md has
/// the layout.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace potluck {

struct kept_admission {
  std::string token = {};   ///< The last one of the authority; raw.
  std::string voucher = {}; ///< The last one since; raw.

  static const std::size_t most_bytes;
};

std::string to_bytes(const kept_admission& x);
/// Nothing where the bytes are damaged: then the authority is asked. What the
/// two are worth the gate says.
kept_admission read_kept_admission(std::string_view bytes);

} // namespace potluck
