/// The peers that are connected with a hub, and how much of it each of them,
/// its home and its prefix have: circuits, and bytes a second.
///
/// Pure. It knows neither of which runs they are, nor where a circuit leads.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"
#include "runtime/lines/token_bucket.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/relay/circuit_crowd.hpp"
#include "runtime/relay/circuit_place.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

class hub_guests {
public:
  hub_guests() = default;
  hub_guests(const hub_guests&) = delete;
  hub_guests& operator=(const hub_guests&) = delete;

  struct caller {
    peer_id who;
    std::string host;
  };

  // ---- who is there

  /// Somebody is at the other end. Does nothing where somebody was before.
  void met(connection_id on, const peer_id& who, const std::string& host);
  /// Its hello was welcome. False: nobody is there.
  bool welcome(connection_id on);
  /// Its circuits have been removed before.
  void gone(connection_id on);

  /// The peer that is there; null: none.
  const caller* at(connection_id on) const;
  /// Of its connections whose hello was welcome: an older one may be dead,
  /// unnoticed.
  std::optional<connection_id> newest_of(const peer_id& who) const;
  /// Precondition for this and all that follows: the peers are there.
  const std::set<connection_id>& connections_of(const peer_id& who) const;

  // ---- what they have

  /// It asks for a circuit. Whether it may, so soon.
  bool asks(const peer_id& who, time_point now);
  /// Why the two may not have one more, which the first has asked for; empty:
  /// they may.
  /// @param most Circuits that the hub carries at most.
  std::string objection(const peer_id& asker, const peer_id& to,
                        std::size_t most) const;
  /// The circuit that gives way to one that it asks for, if any does.
  std::optional<circuit_place> gives_way_to(const peer_id& asker) const;
  /// An end of a circuit is at this peer, which has asked for it where the
  /// place says so.
  void add(const circuit_place& at, const peer_id& who);
  void remove(const circuit_place& at, const peer_id& who);

  /// Bytes that it may send.
  token_bucket& rate_of(const peer_id& who);
  /// All within its prefix together, also before they were here last.
  token_bucket& prefix_rate_of(const peer_id& who);

private:
  struct prefix {
    std::size_t guests = 0, ends = 0;
    std::size_t opened = 0; ///< Circuits that guests there asked for.
    token_bucket rate{limits::prefix_rate, limits::prefix_burst};
    std::list<std::string>::iterator left = {}; ///< Without guests: in `left_`.
  };
  struct guest {
    std::set<connection_id> connections;
    std::vector<connection_id> welcome = {}; ///< Of these, the newest last.
    std::string prefix, home;
    std::size_t circuits = 0;
    token_bucket opens{limits::opens_per_second, limits::opens_at_once};
    token_bucket rate{limits::sender_rate, limits::sender_burst};
  };

  void leave(const std::string& prefix);

  std::map<connection_id, caller> whose_;
  std::map<peer_id, guest> guests_;
  std::map<std::string, prefix> prefixes_;
  std::list<std::string> left_; ///< Prefixes without guests, the oldest first.
  circuit_crowd<circuit_place> opened_; ///< By the home that asked for each.
};

} // namespace potluck
