/// A peer with an actor system of its own, as a part of a program that knows
/// nothing of actors.
#pragma once

#include <memory>

#include "actors/peer.hpp"
#include "tools/library/meeting.hpp"
#include "tools/library/news.hpp"

namespace potluck::library {

class hosted_peer {
public:
  /// Starts it. Its threads take no signals.
  /// @param heard Hears of it, until its last actor has ended.
  /// @param with Ends with the run, and with the peer.
  hosted_peer(peer_config config, std::shared_ptr<news> heard,
              std::shared_ptr<meeting> with);
  /// Waits for its end, which `leave` begins.
  ~hosted_peer();

  /// Tells it to say goodbye and end; once is enough.
  void leave();

private:
  struct inside;
  std::unique_ptr<inside> inside_;
};

} // namespace potluck::library
