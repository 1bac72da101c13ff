/// How large and how deep a TorchScript file may be.
#pragma once

#include <cstddef>

namespace potluck {

struct script_limits {
  std::size_t records = 16384;
  std::size_t bytes = std::size_t{2} << 30;       ///< Of all, unpacked.
  std::size_t code_bytes = std::size_t{16} << 20; ///< Of code and of pickles.
  std::size_t nesting = 200; ///< Of brackets in code, of marks in pickles.
};

} // namespace potluck
