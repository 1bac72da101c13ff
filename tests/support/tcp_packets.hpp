/// TCP packets as a kernel would make them, for tests of boxes on the way.
#pragma once

#include <string>

#include "tools/lab/network/tcp_packet.hpp"

namespace potluck::support {

constexpr std::uint8_t flag_fin = 1, flag_syn = 2, flag_reset = 4,
                       flag_ack = 16;

struct tcp_words {
  tcp_end from, to;
  unsigned flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::string payload;
};

/// With an option of four bytes in TCP's header, and both checksums.
packet_bytes tcp_packet(const tcp_words& x);

/// The receiver's kernel would take it.
bool checksums_fit(const packet_bytes& packet);

std::uint32_t sequence_of(const packet_bytes& packet);

} // namespace potluck::support
