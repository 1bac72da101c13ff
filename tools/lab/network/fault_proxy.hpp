/// The internet between processes of this machine, with everything that can go
/// wrong on it: every connection to a peer passes its proxy, which delays,
/// throttles, holds, corrupts or breaks it.
///
/// A machine has three names: others dial its `front` (127.1.0.5:p, where the
/// proxy listens), which passes on to its `back` (127.2.0.5:p, where its peer
/// listens); and its peer dials from the host of `front`, by which the proxy
/// knows who it is. The other side sees that host, too.
///
/// Differences from a real network: a dial always succeeds at once, and is held
/// or broken only then; what is lost or corrupted is a piece of what a read
/// gave, not a packet or a frame; the kernel's buffers on both sides add to
/// what is on its way. A partition holds what is on its way, as TCP's
/// retransmissions do, and lets it go when it heals.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class fault_proxy {
public:
  using machine = std::size_t;

  /// A machine's access line at present.
  struct line {
    duration delay{0};   ///< One way, to the middle of the network.
    duration jitter{0};  ///< At most so much more, uniform, for every piece.
    double upload = 0;   ///< Bytes per second; 0: no limit.
    double download = 0; ///< Likewise.
    double loss = 0;     ///< Of packets: each costs a retransmission.
    double corrupt = 0;  ///< Of pieces: one bit flips, which the receiver's
                         ///< checksum finds: it ends the connection.
    bool deaf = false;   ///< Nothing is handed to it.
    bool closed = false; ///< Nobody can dial it.
  };

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

  void set_line(machine x, const line& how);

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
  std::uint64_t partitions_ = 0;
};

} // namespace potluck
