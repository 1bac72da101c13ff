/// How the two sides of a hub's line name a circuit that comes on it.
#pragma once

#include <cstdint>
#include <tuple>

#include "runtime/ports/transport.hpp"

namespace potluck {

struct circuit_place {
  connection_id on = 0;
  std::uint32_t number = 0;
  bool opened_there = false; ///< By the other side of the connection.

  friend bool operator<(const circuit_place& a, const circuit_place& b) {
    return std::tie(a.on, a.number, a.opened_there)
           < std::tie(b.on, b.number, b.opened_there);
  }
};

} // namespace potluck
