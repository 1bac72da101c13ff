#include "tools/lab/network/tcp_packet.hpp"

namespace potluck {

namespace {

constexpr std::size_t least_header = 20; // Of IPv4, and of TCP.
constexpr std::uint8_t protocol_tcp = 6;
constexpr std::size_t checksum_place = 16; // In TCP's header.
constexpr std::uint8_t flag_fin = 1, flag_syn = 2, flag_reset = 4,
                       flag_ack = 16;

std::uint32_t read16(const packet_bytes& x, std::size_t at) {
  return std::uint32_t{x[at]} << 8 | x[at + 1];
}

std::uint32_t read32(const packet_bytes& x, std::size_t at) {
  return read16(x, at) << 16 | read16(x, at + 2);
}

void write16(packet_bytes& x, std::size_t at, std::uint32_t value) {
  x[at] = static_cast<std::uint8_t>(value >> 8);
  x[at + 1] = static_cast<std::uint8_t>(value);
}

void write32(packet_bytes& x, std::size_t at, std::uint32_t value) {
  write16(x, at, value >> 16);
  write16(x, at + 2, value & 0xffff);
}

std::uint32_t folded(std::uint32_t sum) {
  while (sum > 0xffff)
    sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/// One's complement sum of the words in [begin, end), an even number of bytes.
std::uint32_t sum_of(const packet_bytes& x, std::size_t begin,
                     std::size_t end) {
  std::uint32_t sum = 0;
  for (auto i = begin; i < end; i += 2)
    sum += read16(x, i);
  return folded(sum);
}

} // namespace

std::optional<tcp_segment> read_tcp(const packet_bytes& packet) {
  if (packet.size() < 2 * least_header || packet[0] >> 4 != 4
      || packet[9] != protocol_tcp || (read16(packet, 6) & 0x1fff) != 0)
    return std::nullopt;
  tcp_segment x;
  x.header = std::size_t{packet[0] & 15u} * 4;
  x.end = read16(packet, 2);
  if (x.header < least_header || x.end > packet.size()
      || x.header + least_header > x.end)
    return std::nullopt;
  x.payload = x.header + std::size_t{packet[x.header + 12]} / 16 * 4;
  if (x.payload < x.header + least_header || x.payload > x.end)
    return std::nullopt;
  x.from.host = read32(packet, 12);
  x.to.host = read32(packet, 16);
  x.from.port = static_cast<std::uint16_t>(read16(packet, x.header));
  x.to.port = static_cast<std::uint16_t>(read16(packet, x.header + 2));
  x.acknowledged = read32(packet, x.header + 8);
  auto flags = packet[x.header + 13];
  x.fin = flags & flag_fin;
  x.syn = flags & flag_syn;
  x.reset = flags & flag_reset;
  x.ack = flags & flag_ack;
  return x;
}

void flip_payload_bit(packet_bytes& packet, const tcp_segment& x,
                      std::size_t bit) {
  auto at = x.payload + bit / 8;
  // TCP's sum is of words that begin at its header, the last one padded.
  auto odd = (at - x.header) % 2 == 1;
  auto word = [&] {
    return odd ? std::uint32_t{packet[at]} : std::uint32_t{packet[at]} << 8;
  };
  auto place = x.header + checksum_place;
  auto before = word();
  packet[at] = static_cast<std::uint8_t>(packet[at] ^ (1u << bit % 8));
  auto sum = (~read16(packet, place) & 0xffff) + (~before & 0xffff) + word();
  write16(packet, place, ~folded(sum) & 0xffff);
}

packet_bytes make_reset(const tcp_end& from, const tcp_end& to,
                        std::uint32_t sequence) {
  packet_bytes x(2 * least_header);
  x[0] = 0x45; // IPv4, five words of header.
  write16(x, 2, static_cast<std::uint32_t>(x.size()));
  x[8] = 64; // Hops.
  x[9] = protocol_tcp;
  write32(x, 12, from.host);
  write32(x, 16, to.host);
  write16(x, 10, ~sum_of(x, 0, least_header) & 0xffff);
  const auto tcp = least_header;
  write16(x, tcp, from.port);
  write16(x, tcp + 2, to.port);
  write32(x, tcp + 4, sequence);
  x[tcp + 12] = 5 << 4;
  x[tcp + 13] = flag_reset;
  // The pseudo-header: both hosts, the protocol, TCP's length.
  auto sum = sum_of(x, 12, least_header) + protocol_tcp
             + static_cast<std::uint32_t>(least_header)
             + sum_of(x, tcp, x.size());
  write16(x, tcp + checksum_place, ~folded(sum) & 0xffff);
  return x;
}

} // namespace potluck
