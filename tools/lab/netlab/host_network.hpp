/// Hosts on this machine with an emulated internet between them, and what can
/// go wrong on it. Two kinds: network namespaces, whose packets pass the
/// emulator, and a proxy before every peer where the system does not allow
/// these.
///
/// Hosts count from 0. What is said of a line holds for what is sent from then
/// on. Fails, where it can, with a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "tools/lab/network/line_emulator.hpp"
#include "tools/lab/network/network_description.hpp"
#include "tools/lab/network/router_kind.hpp"

namespace potluck::netlab {

class host_network {
public:
  using host = line_emulator::host;

  struct statistics {
    std::uint64_t connections = 0; ///< Dials that passed.
    std::uint64_t bytes = 0;       ///< Of IP, or of what the proxies read.
    std::uint64_t lost_packets = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t cut = 0; ///< Connections that we broke.
    /// Share of the packets that came more than 5 ms late, since this machine
    /// was busy: beyond a few in a hundred, figures are not to be trusted. 0
    /// where nobody looks.
    double late_share = 0;
  };

  virtual ~host_network() = default;

  /// It carries packets, so that TCP itself suffers: they can be doubled and
  /// overtaken, and a host can fall silent.
  virtual bool carries_packets() const = 0;

  /// One sentence about what this network is.
  virtual std::string about() const = 0;

  /// One more host, in a home of its own: behind a router of that kind. Where
  /// the network has none, the line has to be closed instead.
  virtual expected<host> add(const access_line& line,
                             router_kind router = router_kind::none)
      = 0;
  /// Where others reach it, without a port. By IPv4, if it has that.
  virtual std::string address_of(host x) const = 0;
  /// By IPv6; empty where it has none.
  virtual std::string ipv6_address_of(host) const {
    return "";
  }

  /// A potluck on the host will listen on `port`; 0 for one that is free.
  /// Returns where others reach it. Once for each host and port.
  virtual expected<address> open(host x, std::uint16_t port) = 0;
  /// The options with which that potluck takes part.
  virtual std::vector<std::string> words_of(host x) const = 0;

  /// The calling thread, or a child between fork and exec, becomes one of the
  /// host's. False when the system refuses.
  virtual bool enter(host x) const = 0;
  /// Calls `what` in a thread on the host, with a clock of its own where the
  /// system knows how.
  virtual expected<bool> within(host x,
                                const std::function<expected<bool>()>& what)
      = 0;

  virtual void set_line(host x, const access_line& line) = 0;
  /// What is special about the way from `a` to `b`.
  virtual expected<bool> link(host a, host b, const network_link& how) = 0;

  /// Nothing passes between `side` and all others until `reunite`. Several may
  /// overlap.
  virtual std::uint64_t part(const std::set<host>& side) = 0;
  virtual void reunite(std::uint64_t partition) = 0;
  /// Breaks all connections of the host; it can be dialled again at once.
  virtual void cut(host x) = 0;

  /// The host's router forgets its connections: nobody is told. Without effect
  /// where there is none that translates.
  virtual void reboot_router(host) {
  }
  /// Others see the host's home by another address from here on. Likewise.
  virtual void move_home(host) {
  }

  virtual statistics totals() const = 0;
  /// Nothing where this is not counted.
  virtual std::optional<line_counters> counters_of(host x) const = 0;
};

/// Hosts as network namespaces with a TUN device each, whose other ends we
/// hold. They live exactly as long as their processes and we do: nothing has a
/// name, so nothing can be left behind. Fails with what was refused, "network
/// namespace: Operation not permitted". Call with one thread only, if not as
/// root.
expected<std::unique_ptr<host_network>> make_namespaces(std::uint64_t seed);

/// Whether namespaces can have routers of that kind here; fails with what is
/// missing.
expected<bool> try_routers(router_kind kind = router_kind::port_restricted);

/// Hosts as addresses of this machine with a `fault_proxy` before each: needs
/// no privilege, but shapes only potlucks that were started with `words_of`.
std::unique_ptr<host_network> make_proxies(std::uint64_t seed);

} // namespace potluck::netlab
