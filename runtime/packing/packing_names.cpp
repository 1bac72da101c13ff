#include <array>

#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

constexpr std::array<const char*, 4> names{"float32", "float16", "bfloat16",
                                           "int8"};

} // namespace

std::string to_string(packing x) {
  return names.at(static_cast<std::size_t>(x));
}

std::optional<packing> packing_named(const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i])
      return static_cast<packing>(i);
  return std::nullopt;
}

} // namespace potluck
