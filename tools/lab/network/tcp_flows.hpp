/// The TCP connections that pass a box on the way, so that it can forget them:
/// from then on it answers whoever still uses one with a reset, as a router
/// does that was restarted. Pure.
///
/// Keeps an entry for every connection until it ends, and for each that it
/// broke until the same two ends connect anew.
#pragma once

#include <array>
#include <map>

#include "tools/lab/network/tcp_packet.hpp"

namespace potluck {

class tcp_flows {
public:
  enum class verdict {
    pass,
    broken, ///< It goes no further; see `answer`.
  };

  /// Looks at a packet on its way.
  verdict see(const tcp_segment& x);

  /// It is of a connection that was broken since it was sent.
  bool is_broken(const tcp_segment& x) const;

  /// The reset for whoever sent a packet of a broken connection, which it
  /// believes in any state; nothing when there is none to be given.
  static std::optional<packet_bytes> answer(const tcp_segment& x);

  /// Breaks all connections of `host`. Returns how many; `resets` gets one for
  /// each end that has said what it expects. An end that has got more since
  /// challenges it (RFC 5961), and is answered.
  std::size_t break_all(std::uint32_t host, std::vector<packet_bytes>& resets);

private:
  /// Its ends, the smaller one first.
  using key = std::array<tcp_end, 2>;

  struct flow {
    bool broken = false;
    std::array<std::optional<std::uint32_t>, 2> expects; ///< By end.
    std::array<bool, 2> finished{};
  };

  static key key_of(const tcp_segment& x);

  std::map<key, flow> flows_;
};

} // namespace potluck
