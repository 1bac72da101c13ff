/// Where a peer can be reached, and what it is for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/expected.hpp"
#include "messages/ids.hpp"

namespace potluck {

/// A TCP endpoint. `host` is a name, an IPv4 or an IPv6 address without
/// brackets.
struct address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const address& a, const address& b) {
    return a.host == b.host && a.port == b.port;
  }
  friend bool operator!=(const address& a, const address& b) {
    return !(a == b);
  }
  friend bool operator<(const address& a, const address& b) {
    return a.host != b.host ? a.host < b.host : a.port < b.port;
  }
};

/// Reads `HOST:PORT` or `[IPV6]:PORT`.
expected<address> parse_address(std::string_view text);

/// `HOST:PORT`, with brackets around an IPv6 address.
std::string to_string(const address& x);

/// A peer and where it listens; port 0 says that it cannot be dialled.
struct contact {
  peer_id id;
  address where;

  friend bool operator==(const contact& a, const contact& b) {
    return a.id == b.id && a.where == b.where;
  }
};

/// A pair of peers whose connection carries less than the sender's line.
struct slow_pair {
  peer_id to;
  double bytes_per_second = 0; ///< More than zero.

  friend bool operator==(const slow_pair& a, const slow_pair& b) {
    return a.to == b.to && a.bytes_per_second == b.bytes_per_second;
  }
};

/// What a peer does in a run. The values are on the wire: append only.
enum class role : std::uint8_t {
  trainer = 0,   ///< Computes gradients, reduces, holds the model.
  auxiliary = 1, ///< Reduces for others; computes nothing, needs no data.
  bootstrap = 2, ///< Routes only: first contact and DHT storage.
  expert = 3,    ///< Hosts or calls experts; takes no part in steps.
};

std::string to_string(role x);

} // namespace potluck
