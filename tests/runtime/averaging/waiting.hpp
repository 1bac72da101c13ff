/// Parts of many members that wait in a pool, of each as much as may.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/averaging/value_pool.hpp"

namespace potluck {

/// Empty where so many bytes may not wait. The members are beyond any group's.
inline std::vector<std::shared_ptr<const void>>
let_many_wait(value_pool& pool, std::size_t bytes) {
  std::vector<std::shared_ptr<const void>> result;
  for (std::size_t member = 1000; bytes > 0; ++member) {
    auto share = std::min(bytes, value_pool::most_waiting_of_one);
    result.push_back(pool.let_wait(member, share));
    if (!result.back())
      return {};
    bytes -= share;
  }
  return result;
}

inline bool may_wait(value_pool& pool, std::size_t bytes) {
  return !let_many_wait(pool, bytes).empty();
}

} // namespace potluck
