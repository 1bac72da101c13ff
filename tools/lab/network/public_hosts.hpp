/// The public addresses that a laboratory's machines and routers have.
#pragma once

#include <cstddef>
#include <cstdint>

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

} // namespace potluck
