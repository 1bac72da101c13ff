/// What must hold of every input.
#pragma once

#include <cstdlib>

namespace potluck {

inline void insist(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace potluck
