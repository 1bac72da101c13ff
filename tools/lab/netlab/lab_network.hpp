/// A description's network made real: how its hosts reach each other, and what
/// a command on one of them needs. Two kinds: network namespaces, and a proxy
/// before every peer where there are none.
#pragma once

#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include "tools/lab/network/emulated_network.hpp"

namespace potluck::netlab {

class lab_network {
public:
  using host = std::size_t;

  virtual ~lab_network() = default;

  /// Where others reach a host, without a port.
  virtual std::string address_of(host x) const = 0;

  /// The options with which a potluck on `x` takes part, listening on `port`.
  virtual expected<std::vector<std::string>> network_words(host x,
                                                           unsigned port)
      = 0;

  /// In a child, between fork and exec: becomes a process of `x`. Only calls
  /// that are safe there. False when the system refuses.
  virtual bool enter(host x) const = 0;

  virtual void change(host x, const line_change& how) = 0;

  /// What to wait for besides time.
  virtual std::vector<int> descriptors() const = 0;

  /// Passes on what is due; when it wants to be called again, at the latest.
  virtual std::optional<time_point> step() = 0;

  /// What passed, and what did not; nothing where this is not counted.
  virtual const emulated_network::counters* counters_of(host x) const = 0;

  /// Share of the packets that came more than `packet_lateness` late, because
  /// the machine was busy: beyond a few in a hundred, figures are not to be
  /// trusted.
  virtual double late_share() const = 0;
};

/// Hosts as network namespaces with a TUN device each, whose other ends we
/// hold. They live exactly as long as their processes and we do: nothing has a
/// name, so nothing can be left behind. Preconditions: `become_lab` succeeded.
expected<std::unique_ptr<lab_network>>
make_namespaces(const network_description& from);

/// Hosts as addresses of this machine with a `fault_proxy` before each: needs
/// no privilege, but shapes only potlucks that were started with
/// {network:PORT}.
expected<std::unique_ptr<lab_network>>
make_proxies(const network_description& from);

/// The first process of a new process namespace, which the kernel ends with all
/// that is inside when this process ends.
enum class lab_side { outside, inside };

struct lab_birth {
  lab_side side = lab_side::outside;
  int child = -1;    ///< Outside: the process inside.
  int lifeline = -1; ///< Inside: readable once the outside is gone.
};

/// Forks. With `namespaces` the inside may make network namespaces; fails with
/// a sentence where the system does not let us. Call with one thread only.
expected<lab_birth> become_lab(bool namespaces);

} // namespace potluck::netlab
