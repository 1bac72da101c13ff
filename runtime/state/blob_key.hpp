/// What is downloaded: the state after a step, or the mean that led to it.
#pragma once

#include <cstdint>
#include <tuple>

namespace potluck {

/// In the order in which it is asked for: means first, since donors drop them.
struct blob_key {
  bool state = false;
  std::uint64_t step = 0;

  friend bool operator<(const blob_key& a, const blob_key& b) {
    return std::tie(a.state, a.step) < std::tie(b.state, b.step);
  }
  friend bool operator==(const blob_key& a, const blob_key& b) {
    return a.state == b.state && a.step == b.step;
  }
};

} // namespace potluck
