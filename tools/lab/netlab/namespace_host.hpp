/// A host of its own on this machine: a network namespace with one TUN device,
/// whose other end we hold. Or a home: the device is its router's, another
/// namespace, and a veth pair leads from there to the host. The router of an
/// `ipv6_only` home translates nothing, so it is in the host's own namespace.
///
/// It lives exactly as long as its processes and this object do: it has no
/// name, so nothing can be left behind.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/clock.hpp"
#include "runtime/state/file_descriptor.hpp"
#include "tools/lab/network/router_kind.hpp"

namespace potluck::netlab {

/// Makes this process root of a user namespace, when it is not root already: it
/// may make hosts then, where the system lets it. Fails with what was refused,
/// "user namespace: Operation not permitted". Call with one thread only.
expected<bool> become_root_inside();

/// "11.0.0.1".
std::string dotted(std::uint32_t address);

/// Whether this machine has what opens ports when it is asked to (UPnP's IGD
/// and NAT-PMP).
bool has_port_mapper();

class namespace_host {
public:
  /// A packet has so many bytes at most, as on Ethernet; a larger one would
  /// make rates and losses unlike real ones.
  static constexpr int packet_bytes = 1500;

  /// Versions of IP; both, where the kernel has IPv6.
  enum class versions { four, six, both };

  /// The calling thread is in the host's namespace afterwards. Fails with what
  /// was refused, "/dev/net/tun: Permission denied".
  /// @param address Of IPv4; the one of IPv6 follows from it.
  static expected<namespace_host> make(std::uint32_t address,
                                       versions speaks = versions::four);

  /// A host, 192.168.1.2, behind a router of that kind, whose address this is.
  /// Needs `ip` and `nft` (Debian: iproute2, nftables). The router of a double
  /// NAT is 100.64.0.2 at its carrier's. Without a router it speaks both
  /// versions of IP.
  ///
  /// Filtering is conntrack's, address- and port-dependent, and a router's own
  /// input is dropped. What differs from nat_table.hpp: the ports of the host
  /// of an open cone can all be dialled at once; so can those behind an
  /// address-restricted one, by hosts that were dialled within two minutes. A
  /// router with UPnP runs Debian's miniupnpd where it is installed; where it
  /// is not, it is an open cone.
  static expected<namespace_host> make_behind(router_kind kind,
                                              std::uint32_t address);

  /// One that translates; can reboot, and move.
  bool has_router() const {
    return !routers_.empty();
  }
  versions speaks() const {
    return speaks_;
  }
  /// Its routers forget their connections. Call in a thread of its own. False
  /// when the system refuses.
  bool reboot_routers() const;
  /// Others see the home by that address from here on. Likewise.
  bool move_to(std::uint32_t address) const;

  /// Reads what its kernel sends, and writes what it receives, packet by
  /// packet, without blocking.
  int line() const {
    return line_.get();
  }

  /// Moves the calling thread into it; may be called between fork and exec.
  /// False when the system refuses.
  bool enter() const;

private:
  versions speaks_ = versions::four;
  file_descriptor space_;                ///< The namespace.
  std::vector<file_descriptor> routers_; ///< Theirs, the outermost first.
  file_descriptor line_;
  std::shared_ptr<std::FILE> daemon_; ///< Of the router, where it has one.
};

/// Children of the calling thread get clocks (CLOCK_MONOTONIC, and with it
/// std::chrono::steady_clock) that are so much ahead of this machine's. False
/// where the system does not know how: Linux 6.1 and later do.
bool shift_clocks_of_children(duration ahead);

} // namespace potluck::netlab
