/// Whether others can dial this peer: whom to ask, and when the answer changes.
///
/// Pure. The votes are `reachability`'s; this says when they are taken, among
/// whom, and at which address.
#pragma once

#include <optional>
#include <string>

#include "messages/contact.hpp"
#include "runtime/membership/guest_book.hpp"
#include "runtime/membership/reachability.hpp"

namespace potluck {

class own_reach {
public:
  /// @param seed Gives each peer an order of its own to ask in.
  own_reach(potluck::role own, std::uint64_t seed) : own_(own), seed_(seed) {
  }

  /// What others are told: whether they can dial this peer. Taken to be so
  /// until it has been found out.
  bool reachable() const {
    return told_;
  }
  /// Whether that has just changed; then it is what others are to be told.
  bool changes();
  /// What the user is told of it.
  std::string sentence(const address& where) const;

  /// Whom to ask to dial this peer at `where`, if anybody.
  /// @param decided The cell has said whom it wants: only then does a trainer
  ///     care. @param contributes This peer does.
  std::optional<peer_id> ask(const address& where, bool decided,
                             bool contributes, const guest_book& guests,
                             time_point now);
  void answered(const peer_id& from, bool reached, time_point now);
  /// It has dialled us.
  void came(const peer_id& who, time_point now) {
    votes_.came(who, now);
  }

private:
  potluck::role own_;
  std::uint64_t seed_;
  reachability votes_;
  bool told_ = true;
  bool found_out_ = false; ///< At this address, or nobody knows.
  address where_;          ///< The votes were taken there.
};

} // namespace potluck
