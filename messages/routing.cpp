#include "messages/routing.hpp"

#include "messages/hashing.hpp"

namespace potluck {

std::uint32_t known_mark(std::string_view name, std::uint64_t token) {
  return static_cast<std::uint32_t>(
      XXH3_64bits_withSeed(name.data(), name.size(), token));
}

std::uint32_t known_mark(const peer_id& id, std::uint64_t token) {
  return known_mark(
      {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}, token);
}

} // namespace potluck
