/// What this peer's dials have shown of addresses, and where it dials on
/// others' word because of that: not at itself, not within its house when it is
/// seen from outside, and seldom where nobody was.
///
/// Pure: it is told of each dial and how that ended, and dials nobody.
#pragma once

#include <string>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/dialable.hpp"
#include "runtime/membership/dialled_hosts.hpp"
#include "runtime/membership/hearsay_dials.hpp"
#include "runtime/membership/own_addresses.hpp"

namespace potluck {

class dial_memory {
public:
  // ---- what dials have shown

  /// A host is dialled: its router, and ours, may let it in from here on.
  void dials(const std::string& host, time_point now) {
    hosts_.note(host, now);
  }
  /// A peer was there as it was said to be.
  /// @param seen_host Where it sees this peer.
  void answered(const address& where, const std::string& seen_host) {
    hearsay_.answered(where);
    seen_host_ = seen_host;
  }
  /// Nobody was there, or somebody else.
  void failed(const address& where, time_point now) {
    if (dialable(where))
      hearsay_.failed(where, now);
  }
  /// This peer itself was there.
  void answered_itself(const address& where, time_point now) {
    own_.answered(where, now);
  }

  // ---- what follows

  /// Nobody else is to be dialled there.
  bool is_itself(const address& where, time_point now) {
    return own_.has(where, now);
  }
  /// Whether to dial there on somebody's word; then it counts as done.
  bool may_try(const address& where, time_point now) {
    return may_knock(seen_host_, where.host) && hearsay_.spend(where, now);
  }
  /// Of two addresses of a peer, whether this one is tried first: it is of the
  /// version of IP that this peer is seen with. Then it counts as done.
  bool prefers(const address& other, time_point now) {
    return dialable(other) && is_public(seen_host_)
           && same_family(other.host, seen_host_) && may_try(other, now);
  }
  /// Whether that somebody connects from there shows that others can.
  bool proves_something(const std::string& host, time_point now) const {
    return hosts_.proves_something(host, now);
  }

private:
  own_addresses own_;
  dialled_hosts hosts_;
  hearsay_dials hearsay_;
  std::string seen_host_; ///< This peer's, as one that it dialled says.
};

} // namespace potluck
