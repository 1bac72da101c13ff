/// The network between the peers of a chaos run, and what can go wrong on it.
/// Two kinds: hosts of their own on an emulated internet, and a proxy before
/// every peer where the system does not allow these.
///
/// Knows nothing of scenarios and peers.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "tools/lab/network/faulty_network.hpp"

namespace potluck::tools {

class chaos_network {
public:
  using machine = std::size_t;

  struct statistics {
    std::uint64_t connections = 0; ///< Dials that passed.
    std::uint64_t bytes = 0;       ///< Of IP, or of what the proxies read.
    std::uint64_t lost_packets = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t cut = 0; ///< Connections that we broke.
    /// Share of the packets that came more than 5 ms late, since this machine
    /// was busy; 0 where nobody looks.
    double late_share = 0;
  };

  virtual ~chaos_network() = default;

  /// It carries packets, so that TCP itself suffers: they can be doubled and
  /// overtaken, and a machine can fall silent.
  virtual bool carries_packets() const = 0;

  /// One sentence about what this network is.
  virtual std::string about() const = 0;

  /// A new machine, numbers counting from 0: where others reach its peer. Fails
  /// with a sentence.
  virtual expected<address> add(machine x) = 0;

  /// The options with which its peer takes part.
  virtual std::vector<std::string> words_of(machine x) const = 0;

  /// Calls `what`, whose child processes run on `x`. Fails with a sentence.
  virtual expected<bool> within(machine x,
                                const std::function<expected<bool>()>& what)
      = 0;

  virtual void set_line(machine x, const access_line& line,
                        const line_faults& faults)
      = 0;

  /// Nothing passes between `side` and all others until `reunite`. Several may
  /// overlap.
  virtual std::uint64_t part(std::set<machine> side) = 0;
  virtual void reunite(std::uint64_t partition) = 0;

  /// Breaks all connections of `x`; it can be dialled again at once.
  virtual void cut(machine x) = 0;

  virtual statistics totals() const = 0;
};

/// Peers as processes of this machine, with a `fault_proxy` before each: needs
/// no privilege.
std::unique_ptr<chaos_network> make_proxy_network(std::uint64_t seed);

/// Peers on hosts of their own: network namespaces, whose packets pass a
/// `faulty_network`, in a thread of its own. Their clocks are apart from each
/// other by up to ten days, where the system knows how. Fails with the reason,
/// "network namespace: Operation not permitted". Call with one thread only, if
/// not as root.
expected<std::unique_ptr<chaos_network>>
make_namespace_network(std::uint64_t seed);

} // namespace potluck::tools
