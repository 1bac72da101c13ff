/// TCP in IPv4 packets, as a box on the way sees and changes it. Pure.
///
/// Sources: RFC 791 (IPv4), RFC 9293 (TCP), RFC 1624 (a changed checksum).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace potluck {

using packet_bytes = std::vector<std::uint8_t>;

/// One end of a connection, in the machine's byte order.
struct tcp_end {
  std::uint32_t host = 0;
  std::uint16_t port = 0;

  friend bool operator<(const tcp_end& x, const tcp_end& y) {
    return x.host != y.host ? x.host < y.host : x.port < y.port;
  }
  friend bool operator==(const tcp_end& x, const tcp_end& y) {
    return x.host == y.host && x.port == y.port;
  }
};

/// What a packet says about its connection.
struct tcp_segment {
  tcp_end from, to;
  bool syn = false;
  bool ack = false;
  bool fin = false;
  bool reset = false;
  std::uint32_t acknowledged = 0; ///< What `from` expects next; if `ack`.
  std::size_t header = 0;         ///< Where TCP's header begins.
  std::size_t payload = 0;        ///< Where the payload begins.
  std::size_t end = 0;            ///< Behind the payload.

  /// Somebody dials.
  bool opens() const {
    return syn && !ack;
  }
  bool carries_data() const {
    return end > payload;
  }
};

/// Nothing when it is no TCP, or a later fragment, or cut short.
std::optional<tcp_segment> read_tcp(const packet_bytes& packet);

/// Flips one bit of the payload and mends TCP's checksum, so that the receiving
/// program gets to see it. Preconditions: `x` is of this packet and carries
/// data; `bit` is less than 8 times the bytes of its payload.
void flip_payload_bit(packet_bytes& packet, const tcp_segment& x,
                      std::size_t bit);

/// A reset as if from `from`, which `to` believes when `sequence` is what it
/// expects next (RFC 5961, 3.2).
packet_bytes make_reset(const tcp_end& from, const tcp_end& to,
                        std::uint32_t sequence);

} // namespace potluck
