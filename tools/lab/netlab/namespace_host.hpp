/// A host of its own on this machine: a network namespace with one TUN device,
/// whose other end we hold.
///
/// It lives exactly as long as its processes and this object do: it has no
/// name, so nothing can be left behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "messages/expected.hpp"
#include "runtime/clock.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck::netlab {

/// Makes this process root of a user namespace, when it is not root already: it
/// may make hosts then, where the system lets it. Fails with what was refused,
/// "user namespace: Operation not permitted". Call with one thread only.
expected<bool> become_root_inside();

/// The address of host number `x`, counted from 0: 10.77.0.1 and on.
std::uint32_t host_address(std::size_t x);
/// "10.77.0.1".
std::string dotted(std::uint32_t address);

class namespace_host {
public:
  /// A packet has so many bytes at most, as on Ethernet; a larger one would
  /// make rates and losses unlike real ones.
  static constexpr int packet_bytes = 1500;

  /// The calling thread is in the host's namespace afterwards. Fails with what
  /// was refused, "/dev/net/tun: Permission denied".
  static expected<namespace_host> make(std::uint32_t address);

  /// Reads what its kernel sends, and writes what it receives, packet by
  /// packet, without blocking.
  int line() const {
    return line_.get();
  }

  /// Moves the calling thread into it; may be called between fork and exec.
  /// False when the system refuses.
  bool enter() const;

private:
  file_descriptor space_; ///< The namespace.
  file_descriptor line_;
};

/// Children of the calling thread get clocks (CLOCK_MONOTONIC, and with it
/// std::chrono::steady_clock) that are so much ahead of this machine's. False
/// where the system does not know how: Linux 6.1 and later do.
bool shift_clocks_of_children(duration ahead);

} // namespace potluck::netlab
