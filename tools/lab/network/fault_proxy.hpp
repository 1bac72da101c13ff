/// The internet between processes of this machine, with everything that can go
/// wrong on it: every connection to a peer passes its proxy, which delays,
/// throttles, holds, corrupts or breaks it.
///
/// A machine has three names: others dial its `front` (127.1.0.5:p, where the
/// proxy listens), which passes on to its `back` (127.2.0.5:p, where its peer
/// listens); and its peer dials from the host of `front`, by which the proxy
/// knows who it is. The other side sees that host, too.
///
/// What a read gives, 16 KiB at most, is a piece, which passes the lines of
/// line_emulator.hpp as part of a stream. Differences from a real network: a
/// dial always succeeds at once, and is held or broken only then; a bit that
/// flips ends the connection, since the receiver's checksum finds it; pieces
/// are not doubled and do not overtake each other; the kernel's buffers on both
/// sides add to what is on its way. A partition or deafness holds what is on
/// its way, as TCP's retransmissions do, and lets it go when it is over.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "tools/lab/network/access_line.hpp"

namespace potluck {

class fault_proxy {
public:
  using machine = std::size_t;

  struct statistics {
    std::uint64_t connections = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost_packets = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t cut = 0; ///< Connections that we broke.
  };

  /// Throws std::runtime_error when the system has no descriptors left.
  /// @param seed Of jitter, loss and corruption. What befalls which piece also
  /// depends on the kernel's timing, so a seed does not replay them.
  explicit fault_proxy(std::uint64_t seed);
  /// Breaks all connections.
  ~fault_proxy();

  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;

  /// Listens on `port` of `front`, 0 for a free one, for `x`, and passes what
  /// comes on to the same port of `back`. Both are numeric hosts. Returns the
  /// address of the front; fails with a sentence.
  expected<address> add(machine x, const std::string& front,
                        const std::string& back, std::uint16_t port = 0);

  // These hold for what is sent from their return on.

  void set_line(machine x, const access_line& how);

  /// Nothing passes between `side` and all others until `reunite`. Several may
  /// overlap.
  std::uint64_t part(std::set<machine> side);
  void reunite(std::uint64_t partition);

  /// Resets all connections of `x`; it can be dialled again at once.
  void cut(machine x);

  statistics totals() const;

  class core;

private:
  std::shared_ptr<core> core_;
};

} // namespace potluck
