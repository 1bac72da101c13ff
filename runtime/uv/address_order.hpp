/// In which order the addresses of a host are tried (RFC 8305, section 4), and
/// an IPv4 address as networks know it that carry IPv6 alone (RFC 6052, 7050).
///
/// Pure: no socket, no look-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <uv.h>
#include <vector>

namespace potluck {

class address_order {
public:
  /// What a look-up has found, best first (RFC 6724), of one family or both. It
  /// may come while others are being tried.
  void add(const std::vector<sockaddr_storage>& found);

  /// The next one, which is not to be tried again: IPv6 and IPv4 in turn, IPv6
  /// first. Nothing when all are taken.
  std::optional<sockaddr_storage> next();

  bool has_ipv6() const {
    return !ipv6_.empty();
  }

private:
  std::deque<sockaddr_storage> ipv6_, ipv4_;
  bool ipv4_is_next_ = false;
};

/// What IPv4 addresses begin with where IPv6 stands for them.
struct nat64_prefix {
  std::array<std::uint8_t, 16> bytes{}; ///< Zero behind the prefix.
  std::size_t size = 12;                ///< Bytes: 4 to 8, or 12.
};

/// 64:ff9b::/96 (RFC 6052, section 2.1).
nat64_prefix well_known_nat64();

/// The host whose IPv6 addresses tell the prefix (RFC 7050): it has only IPv4
/// ones, so others were made where we are.
constexpr const char* nat64_host = "ipv4only.arpa";

/// The prefix in the first of that host's addresses that shows one.
std::optional<nat64_prefix>
read_nat64(const std::vector<sockaddr_storage>& found);

/// The IPv6 address that stands for `ipv4`, with its port.
sockaddr_storage translated(const nat64_prefix& prefix,
                            const sockaddr_storage& ipv4);

} // namespace potluck
