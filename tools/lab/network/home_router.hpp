/// A home's way to the internet: its router, the carrier's behind it where
/// there is one, and what they let through. Knows no socket and no clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/lab/network/nat_table.hpp"
#include "tools/lab/network/router_kind.hpp"

namespace potluck {

class home_router {
public:
  /// Where all others see the home. Precondition: the kind is not `none`.
  home_router(router_kind kind, std::string public_host);

  router_kind kind() const {
    return kind_;
  }
  const std::string& public_host() const {
    return public_host_;
  }

  /// `from`, at home, dials `to`: whom `to` sees. Nothing when that does not
  /// leave the home.
  std::optional<address> open(duration now, const address& from,
                              const address& to);
  /// `from`, outside, dials a port of the public host: who at home hears of it,
  /// if anybody.
  std::optional<address> admit(duration now, std::uint16_t port,
                               const address& from);
  /// Whether a connection goes on, seen from outside; its use keeps it up.
  bool carries(duration now, std::uint16_t port, const address& other);

  /// Asks for a mapped port by UPnP: where others can dial `inside` then.
  /// Nothing where the router does not do that.
  std::optional<address> map_port(duration now, const address& inside);

  /// All tables are forgotten, mapped ports too.
  void reboot();
  /// The carrier gives the home another public host: what was open is dead.
  void move_to(std::string public_host);

private:
  const router_kind kind_;
  std::string public_host_;
  std::vector<nat_table> tables_; ///< The home's own first.
};

} // namespace potluck
