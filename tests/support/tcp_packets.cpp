#include "tests/support/tcp_packets.hpp"

namespace potluck::support {

namespace {

constexpr std::size_t ip_header = 20, tcp_header = 24;

void append(packet_bytes& to, std::uint64_t x, int bytes) {
  while (bytes-- > 0)
    to.push_back(static_cast<std::uint8_t>(x >> 8 * bytes));
}

/// RFC 1071, as slowly as it stands there; 0 when a sum that lies in the bytes
/// fits them.
std::uint16_t checksum(packet_bytes bytes) {
  if (bytes.size() % 2 == 1)
    bytes.push_back(0);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    sum += std::uint64_t{bytes[i]} << 8 | bytes[i + 1];
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::uint16_t checksum_of_tcp(const packet_bytes& packet) {
  packet_bytes all{packet.begin() + 12, packet.begin() + ip_header};
  append(all, 6, 2);
  append(all, packet.size() - ip_header, 2);
  all.insert(all.end(), packet.begin() + ip_header, packet.end());
  return checksum(all);
}

std::uint16_t checksum_of_ip(const packet_bytes& packet) {
  return checksum({packet.begin(), packet.begin() + ip_header});
}

void put(packet_bytes& to, std::size_t at, std::uint16_t x) {
  to[at] = static_cast<std::uint8_t>(x >> 8);
  to[at + 1] = static_cast<std::uint8_t>(x);
}

} // namespace

packet_bytes tcp_packet(const tcp_words& x) {
  packet_bytes result;
  append(result, 0x4500, 2);
  append(result, ip_header + tcp_header + x.payload.size(), 2);
  append(result, 0x12344000, 4); // An identification; not to be fragmented.
  append(result, 0x40060000, 4); // 64 hops, TCP, no sum yet.
  append(result, x.from.host, 4);
  append(result, x.to.host, 4);
  append(result, x.from.port, 2);
  append(result, x.to.port, 2);
  append(result, x.sequence, 4);
  append(result, x.acknowledged, 4);
  append(result, tcp_header / 4 << 4, 1);
  append(result, x.flags, 1);
  append(result, 65535, 2); // The window.
  append(result, 0, 4);     // No sum yet, nothing urgent.
  append(result, 0x01010100, 4);
  result.insert(result.end(), x.payload.begin(), x.payload.end());
  put(result, 10, checksum_of_ip(result));
  put(result, 36, checksum_of_tcp(result));
  return result;
}

bool checksums_fit(const packet_bytes& packet) {
  return checksum_of_ip(packet) == 0 && checksum_of_tcp(packet) == 0;
}

std::uint32_t sequence_of(const packet_bytes& packet) {
  std::uint32_t result = 0;
  for (std::size_t i = 24; i < 28; ++i)
    result = result << 8 | packet[i];
  return result;
}

} // namespace potluck::support
