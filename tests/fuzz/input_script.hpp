/// A fuzzer's input as the numbers that a state machine is driven by.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

/// Takes numbers off the input; zeros behind its end.
struct input_script {
  bool over() const {
    return size == 0;
  }
  std::size_t byte() {
    if (size == 0)
      return 0;
    --size;
    return *data++;
  }
  /// Of two bytes.
  std::size_t number() {
    const auto high = byte();
    return high << 8 | byte();
  }
  const std::uint8_t* data;
  std::size_t size;
};

} // namespace potluck
