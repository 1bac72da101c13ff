/// Waiting for a condition that no call-back announces.
#pragma once

#include <chrono>
#include <thread>

namespace potluck::support {

/// Looks every few milliseconds whether `condition()` holds; false when it did
/// not within `patience`.
template <class Condition>
bool await(Condition condition, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds between_looks{5};
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(between_looks);
  }
  return true;
}

} // namespace potluck::support
