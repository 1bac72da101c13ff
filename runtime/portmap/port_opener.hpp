/// One protocol by which a router opens ports. Calls block, for seconds where
/// no router answers.
#pragma once

#include <cstdint>

#include "runtime/ports/port_mapper.hpp"

namespace potluck {

class port_opener {
public:
  virtual ~port_opener() = default;

  /// Has the router pass on connections to a port of its own, the same one if
  /// it can, to this one; or to do so for longer.
  /// @returns port 0 and the problem where it does not.
  virtual port_mapping open(std::uint16_t local_port) = 0;

  /// Has the router close what was opened, without waiting for its answer for
  /// longer than a second.
  virtual void close(std::uint16_t local_port) = 0;
};

} // namespace potluck
