/// The public addresses that a laboratory's machines and routers have.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace potluck {

/// All of them are in 11.0.0.0/8, in the host's byte order. Peers must take
/// them for addresses of the internet, and each for one of a network of its
/// own, since a network has one word and one vote (`network_of`). The blocks
/// for documentation and benchmarks (RFC 5737, RFC 2544) hold 515 such
/// networks, too few. No packet leaves the laboratory, so nobody's address is
/// taken.
constexpr std::uint32_t public_hosts = 0x0b000000;
constexpr int public_hosts_bits = 8;

/// Number `x`, counted from 0: 11.0.0.1, 11.0.1.1 and on; different for all
/// `x` below 2^23.
constexpr std::uint32_t public_host_address(std::size_t x) {
  return public_hosts + static_cast<std::uint32_t>((x & 0xffff) << 8)
         + static_cast<std::uint32_t>(x >> 16) + 1;
}

/// The IPv6 addresses: 3fff::/24, of which each has a /48 of its own, which is
/// one network (`network_of`), with the last three bytes of its owner's IPv4
/// address in it. The block is for documentation (RFC 9637), so it is nobody's;
/// the other such one, 2001:db8::/32, holds 65,536 networks, too few.
using ipv6_address = std::array<std::uint8_t, 16>;
constexpr std::array<std::uint8_t, 3> public_ipv6{0x3f, 0xff, 0x00};
constexpr int public_ipv6_bits = 24;

/// 3fff:0:101::1 for 11.0.1.1.
inline ipv6_address public_ipv6_address(std::uint32_t ipv4) {
  ipv6_address result{};
  std::copy(public_ipv6.begin(), public_ipv6.end(), result.begin());
  for (std::size_t i = 0; i < 3; ++i)
    result[3 + i] = static_cast<std::uint8_t>(ipv4 >> (16 - 8 * i));
  result[15] = 1;
  return result;
}

/// The IPv4 address of whom all of an IPv6 network belongs to.
inline std::optional<std::uint32_t>
public_owner_of(const ipv6_address& address) {
  if (!std::equal(public_ipv6.begin(), public_ipv6.end(), address.begin()))
    return std::nullopt;
  return public_hosts | std::uint32_t{address[3]} << 16
         | std::uint32_t{address[4]} << 8 | address[5];
}

} // namespace potluck
