#include "runtime/dialable.hpp"

#include <algorithm>
#include <cstdint>

#include <arpa/inet.h>

namespace potluck {

bool is_local(const std::string& host) {
  auto begins = [&](const char* with) { return host.rfind(with, 0) == 0; };
  if (host.find(':') != std::string::npos)
    return host == "::1" || begins("fe8") || begins("fe9") || begins("fea")
           || begins("feb") || begins("fc") || begins("fd");
  unsigned second = 0;
  char rest = 0;
  if (std::sscanf(host.c_str(), "172.%3u.%c", &second, &rest) == 2)
    return second >= 16 && second <= 31;
  return host == "localhost" || begins("127.") || begins("10.")
         || begins("192.168.") || begins("169.254.");
}

namespace {

/// @param x In the host's byte order.
bool is_public_ipv4(std::uint32_t x) {
  struct block {
    std::uint32_t first;
    int bits;
  };
  constexpr block reserved[] = {
      {0x00000000, 8},  // 0.0.0.0/8
      {0x0a000000, 8},  // 10.0.0.0/8
      {0x64400000, 10}, // 100.64.0.0/10, behind a provider's router
      {0x7f000000, 8},  // 127.0.0.0/8
      {0xa9fe0000, 16}, // 169.254.0.0/16
      {0xac100000, 12}, // 172.16.0.0/12
      {0xc0000000, 24}, // 192.0.0.0/24
      {0xc0586300, 24}, // 192.88.99.0/24, 6to4
      {0xc0a80000, 16}, // 192.168.0.0/16
      {0xe0000000, 3},  // 224.0.0.0/3
  };
  for (const auto& r : reserved)
    if (x >> (32 - r.bits) == r.first >> (32 - r.bits))
      return false;
  return true;
}

} // namespace

bool is_public(const std::string& host) {
  in_addr four{};
  const auto mapped = host.rfind("::ffff:", 0) == 0 ? 7u : 0u;
  if (::inet_pton(AF_INET, host.c_str() + mapped, &four) == 1)
    return is_public_ipv4(ntohl(four.s_addr));
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) != 1)
    return false;
  const auto* b = six.s6_addr;
  const bool teredo = b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0;
  const bool is_6to4 = b[0] == 0x20 && b[1] == 0x02;
  return b[0] >> 5 == 1 && !teredo && !is_6to4; // 2000::/3
}

bool may_knock(const std::string& own, const std::string& host) {
  in6_addr any{};
  const bool numeric = host.find(':') != std::string::npos
                       || ::inet_pton(AF_INET, host.c_str(), &any) == 1;
  return !is_public(own) || is_public(host) || !(numeric || is_local(host));
}

namespace {

bool is_ipv6(const std::string& host) {
  return host.find(':') != std::string::npos && host.rfind("::ffff:", 0) != 0;
}

} // namespace

bool same_family(const std::string& a, const std::string& b) {
  return is_ipv6(a) == is_ipv6(b);
}

std::string network_of(const std::string& host) {
  if (!is_public(host))
    return host;
  if (!is_ipv6(host))
    return host.substr(0, host.rfind('.'));
  in6_addr six{};
  ::inet_pton(AF_INET6, host.c_str(), &six);
  std::fill(six.s6_addr + 6, six.s6_addr + 16, std::uint8_t{0});
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET6, &six, text, sizeof(text));
  return text;
}

std::string crowd_of(const std::string& host) {
  const std::string mapped = "::ffff:";
  if (host.rfind(mapped, 0) == 0)
    return crowd_of(host.substr(mapped.size()));
  if (is_public(host))
    return network_of(host);
  in6_addr any{};
  const bool numeric = host.find(':') != std::string::npos
                       || ::inet_pton(AF_INET, host.c_str(), &any) == 1;
  return numeric || is_local(host) ? "" : "names";
}

} // namespace potluck
