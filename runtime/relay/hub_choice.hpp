/// Through which hub a peer is to be reached: over one that is connected, else
/// over one that is dialled first. While that dial is under way the peer waits:
/// two that wait for each other would wait for ever.
///
/// Where a hub is may be a stranger's word, so that each host is dialled rarely
/// for it. Pure: it dials nobody and opens no circuit.
#pragma once

#include <map>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/knock_limit.hpp"
#include "runtime/relay/guest_lines.hpp"
#include "runtime/relay/line_table.hpp"

namespace potluck {

class hub_choice {
public:
  enum class step {
    open,    ///< A circuit over a hub's connection.
    dial,    ///< That hub first; whoever is to be reached waits for it.
    wait,    ///< A line to a hub, or to the peer itself, is on its way.
    give_up, ///< No hub leads there.
  };
  struct choice {
    hub_choice::step step = step::give_up;
    connection_id over = 0;         ///< The hub's, for a circuit.
    contact hub;                    ///< That is dialled.
    std::vector<contact> rest = {}; ///< What is left if the circuit fails.
  };
  /// What the choice is made from.
  struct scene {
    const peer_id& self;
    const guest_lines& guests;
    const line_table& links;
  };

  /// The next step to a peer through one of these hubs; it counts as taken.
  choice next(const contact& who, const std::vector<contact>& hubs,
              const scene& x, time_point now);
  /// A peer that waits for a hub, and what it can go through otherwise.
  struct waiting {
    contact who;
    std::vector<contact> hubs;
  };
  /// Whether this peer waits for a hub.
  bool has(const peer_id& who) const;
  /// The dial to the hub has ended: those that waited for it, who can go on by
  /// what is in `hubs`. @param there It is connected, so it comes first there.
  std::vector<waiting> end(const peer_id& hub, bool there);

private:
  std::map<peer_id, std::vector<waiting>> by_hub_;
  knock_limit knocks_;
};

} // namespace potluck
