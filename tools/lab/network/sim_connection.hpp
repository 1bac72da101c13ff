/// The two ends of a stream in the simulated network. Private to this folder.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/ports/transport.hpp"
#include "runtime/strangers/stranger_desk.hpp"
#include "tools/lab/network/line_emulator.hpp"
#include "tools/lab/network/sim_host.hpp"

namespace potluck {

struct sim_connection;

/// One transport.
struct sim_endpoint {
  std::shared_ptr<sim_host> on;
  peer_id who; ///< Proven to whoever is connected.
  std::shared_ptr<transport_listener> listener;
  std::uint16_t port = 0; ///< 0: does not listen.
  connection_id next_id = 1;
  transport_traffic traffic;
  std::vector<connection_traffic> passed; ///< Not told yet.
  /// The same limits as real transports have.
  stranger_desk strangers{limits::strangers_connected,
                          limits::unproven_connections};
  bool stopped = false;
  bool stopping = false;           ///< Asked for in a turn.
  std::set<connection_id> closing; ///< Asked for in a turn.
  /// And which side of the connection is here.
  std::map<connection_id, std::pair<std::shared_ptr<sim_connection>, int>>
      lines;
};

/// A stream between two endpoints; the dialling side is number 0.
struct sim_connection {
  struct side {
    std::shared_ptr<sim_endpoint> owner;
    std::shared_ptr<sim_host> on;
    connection_id id = 0;
    std::shared_ptr<home_router> router; ///< That it passes on its way.
    std::uint16_t outside = 0;           ///< Its port there.
    bool closed = false;  ///< Its `on_closed` was called, or never will be.
    bool closing = false; ///< Closed by its owner: sends no more.
    bool meets_stranger = false; ///< Its owner's limits are for the other side.
    line_emulator::flow coming;  ///< What is on its way to this side.
    duration died{duration::max()}; ///< What had not left by then is lost.
    std::uint64_t queued = 0;       ///< Bytes on their way to this side,
    std::uint64_t letters = 0;      ///< and of these, without bodies.
    /// Lost to a partition so far; sent again when that ends.
    std::deque<std::function<void()>> held;
  };
  std::array<side, 2> sides;
  address local; ///< Of the dialling side.
  address from;  ///< The same, as the other side sees it.
  address to;    ///< The other side, as the dialling one sees it.
  bool open = false;
  bool punches = false; ///< Dials again and again, from the port it listens on.
  bool begins = true;   ///< The dialling side begins the encryption.
  bool lost = false;    ///< A router has forgotten it.
};

} // namespace potluck
