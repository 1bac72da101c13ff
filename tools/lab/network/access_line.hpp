/// A machine's access line, and what is wrong with it.
#pragma once

#include "runtime/clock.hpp"

namespace potluck {

struct access_line {
  double upload = 0;   ///< Bytes per second; 0: no limit.
  double download = 0; ///< Likewise.
  duration delay{0};   ///< One way, to the middle of the network.
  duration jitter{0};  ///< At most so much more, uniform, each time.
  /// How long a packet waits at most for the line, at its rate; what would wait
  /// longer is dropped. Streams wait as long as it takes.
  duration queue{std::chrono::milliseconds{100}};

  double loss_up = 0;   ///< Of the packets that it sends.
  double loss_down = 0; ///< Of the packets that it receives.
  double duplicate = 0; ///< Of what passes it, by a broken box on the way.
  double reorder = 0;   ///< Likewise: so much is overtaken.
  double corrupt = 0;   ///< Likewise: one bit flips.
  bool deaf = false;    ///< Gets nothing that carries data, but is heard.
  bool closed
      = false; ///< Nobody can dial it. (Proxies; elsewhere routers are.)
};

} // namespace potluck
