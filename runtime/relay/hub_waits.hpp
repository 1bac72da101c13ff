/// Peers that are to be reached through a hub to which there is no line yet.
///
/// A dial to each of these hubs is under way: two that wait for each other
/// would wait for ever. Pure.
#pragma once

#include <map>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

class hub_waits {
public:
  /// One that waits, and what it can go through otherwise.
  struct one {
    contact who;
    std::vector<contact> hubs;
  };

  /// The hubs but for this one.
  static std::vector<contact> without(const std::vector<contact>& hubs,
                                      const peer_id& id);

  /// @param hubs Of whom `hub`, which is dialled, is left out.
  void add(const peer_id& hub, const contact& who,
           const std::vector<contact>& hubs);
  /// Whether this peer waits for any.
  bool has(const peer_id& who) const;
  /// The dial to the hub has ended: those that waited for it, who can go on by
  /// what is in `hubs`. @param there It is connected, so it comes first there.
  std::vector<one> end(const peer_id& hub, bool there);

private:
  std::map<peer_id, std::vector<one>> by_hub_;
};

} // namespace potluck
