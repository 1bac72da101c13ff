/// Listening on the port that a peer had before, so that others find it where
/// it was.
#pragma once

#include <string>

#include "runtime/ports/transport.hpp"

namespace potluck {

/// Listens on `where`. A port that it leaves open (0) is the usual one, unless
/// that is 0 or taken: then any, and `say` hears a sentence of it.
template <class Say>
expected<address> listen_as_usual(transport& network, const address& where,
                                  std::uint16_t usual, Say say) {
  if (where.port == 0 && usual != 0) {
    if (auto bound = network.listen({where.host, usual}))
      return bound;
    say("Port " + std::to_string(usual)
        + ", which this peer had before, is taken; it listens on another one.");
  }
  return network.listen(where);
}

} // namespace potluck
