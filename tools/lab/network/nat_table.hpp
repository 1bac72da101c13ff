/// A router's address translation for TCP, by RFC 5382 and in the words of
/// RFC 4787.
///
/// A *mapping* gives a host and port inside a port outside. It is
/// endpoint-independent where all destinations see the same port, and address-
/// and port-dependent where each sees another. *Filtering* says who of outside
/// may dial a mapped port: everybody, hosts that were dialled from it, or only
/// the hosts and ports that were. A *session* is one of its connections, or the
/// try of one; what was idle for too long is forgotten, and a segment of a
/// session that is unknown is dropped.
///
/// An outside port is the inside one where that is free (port preservation),
/// but never where mapping depends on the destination.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class nat_table {
public:
  /// What of the other end makes a difference.
  enum class dependence { none, address, address_and_port };
  struct behaviour {
    dependence mapping = dependence::none;
    dependence filtering = dependence::address_and_port;
  };

  /// @param idle After which a session is forgotten. RFC 5382 asks for more
  /// than two hours; many home routers take minutes.
  explicit nat_table(behaviour how, duration idle = std::chrono::minutes{2});

  /// `from`, inside, dials `to`: the port that `to` sees. Nothing when no port
  /// is free.
  std::optional<std::uint16_t> open(duration now, const address& from,
                                    const address& to);

  /// `from`, outside, dials a port: who inside hears of it, if anybody.
  std::optional<address> admit(duration now, std::uint16_t port,
                               const address& from);

  /// Something passes, either way, between a port and `other`, outside: whose
  /// it is inside; nothing when it is dropped.
  std::optional<address> carry(duration now, std::uint16_t port,
                               const address& other);

  /// A port that lasts and that everybody may dial. The same as inside where
  /// that is free; nothing when none is.
  std::optional<std::uint16_t> map_port(duration now, const address& inside);

  /// It reboots.
  void forget();

  std::size_t mappings() const {
    return by_port_.size();
  }

private:
  struct mapping {
    address inside;
    address to; ///< As far as mapping depends on it.
    bool lasting = false;
    duration used{0};
    std::map<address, duration> sessions; ///< Since when they are idle.
  };

  bool idle(duration now, duration since) const {
    return now - since > idle_;
  }
  mapping* find(duration now, std::uint16_t port);
  std::optional<std::uint16_t> free_port(std::uint16_t wanted);
  std::optional<std::uint16_t> port_for(duration now, const address& inside,
                                        const address& to);
  void sweep(duration now);

  const behaviour how_;
  const duration idle_;
  std::map<std::uint16_t, mapping> by_port_;
  /// By inside, and destination as far as mapping depends on it.
  std::map<std::pair<address, address>, std::uint16_t> by_inside_;
  std::uint16_t next_port_;
  duration next_sweep_{0};
};

} // namespace potluck
