/// The peers that are connected with this one, and what each is to it.
///
/// Pure bookkeeping: sessions and letters are its owner's.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "messages/contact.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/strangers/partners.hpp"

namespace potluck {

class guest_book {
public:
  struct guest {
    contact who;
    potluck::role role = potluck::role::trainer;
    time_point since;
    bool contributes = false;
    bool in_own_cell = false; ///< This peer is its sponsor.
    bool routes = false;      ///< The router may ask it, and name it to others.
    bool heard = false;       ///< It has told us its report.
    bool averages = false;    ///< By that, it is one to be in a group with.
    bool relayed = false;     ///< There is no line but through a hub.
    bool is_hub = false;      ///< It passes circuits on, by its hello.
    bool open = false;        ///< Others can dial it, by its report.
    bool is_seed = false;     ///< The user has named it.
    bool is_partner = false;  ///< It works with this peer, or did.
  };

  guest_book(const peer_id& self, potluck::role own) : self_(self), own_(own) {
  }

  /// Whether a trainer that has just come is somebody to look records up at; at
  /// first it is. It may go again, and in a crowd most of those that come will.
  void newcomers_route(bool yes) {
    newcomers_route_ = yes;
  }

  const guest& joined(const contact& who, potluck::role what, time_point now);
  /// How it is connected, and where it was seen since. No look-up asks anybody
  /// through a hub.
  void line(const contact& who, bool relayed, bool is_hub);
  /// The user has named where it is.
  void is_seed(const peer_id& who) {
    if (auto at = guests_.find(who); at != guests_.end())
      at->second.is_seed = true;
  }
  void left(const peer_id& who);
  /// It is in a round with this peer, or its sponsor.
  void works_with(const peer_id& who);

  enum class change {
    none,
    routes,         ///< It is a node of the DHT from here on.
    routes_no_more, ///< It is none, though it may have been one.
  };
  /// A guest's own report.
  change heard(const progress_report& x);

  /// Null when it is no guest.
  const guest* find(const peer_id& who) const {
    auto at = guests_.find(who);
    return at == guests_.end() ? nullptr : &at->second;
  }
  const std::map<peer_id, guest>& all() const {
    return guests_;
  }
  /// Those that do not contribute.
  const std::set<peer_id>& near() const {
    return near_;
  }
  /// Of these, those that work with this peer.
  const std::set<peer_id>& near_partners() const {
    return near_partners_;
  }
  bool heard_anybody() const;
  /// Whether a guest is one to pass circuits on: bootstraps and auxiliaries
  /// that say so, and trainers of this run that others can dial.
  static bool leads_here(const guest& g);
  /// Those that lead here and that others can dial, at most `max_hubs`: first
  /// those that the user has named, trainers last; then those that are here
  /// longest.
  std::vector<contact> hubs() const;

private:
  void note(guest& g, bool contributes, bool routes);
  bool wants_nodes() const;

  peer_id self_;
  potluck::role own_;
  bool newcomers_route_ = true;
  std::map<peer_id, guest> guests_;
  std::set<peer_id> near_;
  std::set<peer_id> near_partners_;
  partners partners_;       ///< Connected or not.
  std::size_t routing_ = 0; ///< Guests that do.
};

} // namespace potluck
