#include "runtime/uv/address_order.hpp"

#include <algorithm>
#include <cstring>

namespace potluck {

namespace {

using ipv4_bytes = std::array<std::uint8_t, 4>;

/// Prefixes that RFC 6052 allows, in bytes, the usual ones first.
constexpr std::array<std::size_t, 6> prefix_sizes{12, 8, 7, 6, 5, 4};

/// Where the four bytes of an IPv4 address lie behind a prefix: byte 8 is left
/// out, and zero (section 2.2).
std::array<std::size_t, 4> places_behind(std::size_t prefix) {
  std::array<std::size_t, 4> result{};
  for (auto& x : result) {
    if (prefix == 8)
      ++prefix;
    x = prefix++;
  }
  return result;
}

/// 192.0.0.170 and 192.0.0.171.
bool is_nat64_host(const ipv4_bytes& x) {
  return x[0] == 192 && x[1] == 0 && x[2] == 0 && (x[3] == 170 || x[3] == 171);
}

} // namespace

void address_order::add(const std::vector<sockaddr_storage>& found) {
  for (const auto& x : found)
    (x.ss_family == AF_INET6 ? ipv6_ : ipv4_).push_back(x);
}

std::optional<sockaddr_storage> address_order::next() {
  auto& from
      = ipv6_.empty() || (ipv4_is_next_ && !ipv4_.empty()) ? ipv4_ : ipv6_;
  if (from.empty())
    return std::nullopt;
  auto result = from.front();
  from.pop_front();
  ipv4_is_next_ = &from == &ipv6_;
  return result;
}

nat64_prefix well_known_nat64() {
  return {{0x00, 0x64, 0xff, 0x9b}, 12};
}

std::optional<nat64_prefix>
read_nat64(const std::vector<sockaddr_storage>& found) {
  for (const auto& x : found) {
    if (x.ss_family != AF_INET6)
      continue;
    nat64_prefix result;
    const auto& all = reinterpret_cast<const sockaddr_in6&>(x).sin6_addr;
    for (auto size : prefix_sizes) {
      ipv4_bytes inside{};
      const auto places = places_behind(size);
      for (std::size_t i = 0; i < places.size(); ++i)
        inside[i] = all.s6_addr[places[i]];
      if (!is_nat64_host(inside))
        continue;
      std::copy_n(all.s6_addr, size, result.bytes.begin());
      result.size = size;
      return result;
    }
  }
  return std::nullopt;
}

sockaddr_storage translated(const nat64_prefix& prefix,
                            const sockaddr_storage& ipv4) {
  const auto& from = reinterpret_cast<const sockaddr_in&>(ipv4);
  ipv4_bytes inside{};
  std::memcpy(inside.data(), &from.sin_addr, inside.size());
  sockaddr_storage result{};
  auto& to = reinterpret_cast<sockaddr_in6&>(result);
  to.sin6_family = AF_INET6;
  to.sin6_port = from.sin_port;
  std::copy(prefix.bytes.begin(), prefix.bytes.end(), to.sin6_addr.s6_addr);
  const auto places = places_behind(prefix.size);
  for (std::size_t i = 0; i < places.size(); ++i)
    to.sin6_addr.s6_addr[places[i]] = inside[i];
  return result;
}

} // namespace potluck
