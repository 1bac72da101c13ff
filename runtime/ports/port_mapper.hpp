/// What the actors need of a home's router: that it passes connections from
/// outside on to this machine.
///
/// Implemented in runtime/portmap, and by fakes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "messages/contact.hpp"

namespace potluck {

/// What a router says. It may be wrong, and another router may stand before it:
/// whether others get through they have to try.
struct port_mapping {
  address outside;               ///< Port 0: none is open.
  std::chrono::seconds lease{0}; ///< It forgets the port then.
  std::string how;               ///< The protocol that it speaks.
  std::string problem;           ///< A sentence, if there is none.
};

class port_mapper {
public:
  using listener = std::function<void(const port_mapping&)>;

  /// Has the router close the port again, and waits for that, two seconds at
  /// most. No call-back comes after.
  virtual ~port_mapper() = default;

  /// Has the router open a port, and keeps it open, in the background. What
  /// comes of it is told on another thread, and again whenever it changes.
  /// Called again, it asks the router anew, which may have forgotten; the new
  /// listener hears how things are. Another port takes the place of the first.
  virtual void start(std::uint16_t local_port, listener told) = 0;
};

} // namespace potluck
