/// The body of a frame with values as float32.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/packing/packing.hpp"

namespace potluck {

inline shared_bytes float_body(std::vector<float> values) {
  const auto owner = std::make_shared<std::vector<float>>(std::move(values));
  return packed_body(packing::float32, owner, owner->data(), owner->size());
}

} // namespace potluck
