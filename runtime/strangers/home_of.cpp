#include "runtime/strangers/home_of.hpp"

#include <arpa/inet.h>

#include <cstddef>

namespace potluck {

namespace {

/// The first bytes of an address; a name as it is.
std::string first_bytes(const std::string& host, std::size_t of_ipv4,
                        std::size_t of_ipv6) {
  in6_addr wide{};
  if (inet_pton(AF_INET6, host.c_str(), &wide) == 1) {
    const auto* bytes = reinterpret_cast<const char*>(wide.s6_addr);
    // An IPv4 address as a socket of both families says it.
    return IN6_IS_ADDR_V4MAPPED(&wide) ? std::string{bytes + 12, of_ipv4}
                                       : std::string{bytes, of_ipv6};
  }
  in_addr narrow{};
  if (inet_pton(AF_INET, host.c_str(), &narrow) == 1)
    return {reinterpret_cast<const char*>(&narrow.s_addr), of_ipv4};
  return host;
}

} // namespace

std::string home_of(const std::string& host) {
  return first_bytes(host, 4, 8);
}

std::string prefix_of(const std::string& host) {
  return first_bytes(host, 3, 6);
}

} // namespace potluck
