/// Which contacts are worth keeping: the check on hearsay, before any memory or
/// any dial is spent on it.
#pragma once

#include <string>

#include "messages/contact.hpp"
#include "messages/limits.hpp"

namespace potluck {

/// True when `x` names an endpoint that could be dialled.
inline bool dialable(const address& x) {
  return x.port != 0 && !x.host.empty() && x.host.size() <= max_host_bytes;
}

/// True when `x` has an id and an endpoint that could be dialled.
inline bool dialable(const contact& x) {
  return !x.id.empty() && dialable(x.where);
}

/// True for addresses of one machine, one house or one link (RFC 1918, 3927,
/// 4193, 4291): who is there may reach this peer where nobody else can.
bool is_local(const std::string& host);

/// True for numeric addresses of the internet that stand for one machine and
/// carry no other address within them (RFC 6890): what may be dialled on a
/// stranger's word. False for names, which may stand for anything.
bool is_public(const std::string& host);

/// Whether a peer that others see at `own` dials a host on another's word: one
/// of the internet does not knock within its house. Names may stand for
/// anything, and are dialled.
bool may_knock(const std::string& own, const std::string& host);

/// Whether both are of the same version of IP; IPv4 within IPv6 is IPv4.
bool same_family(const std::string& a, const std::string& b);

/// The network that a host of the internet is in, as it is given to one
/// customer: its first 24 bits (IPv4) or 48 (IPv6; RFC 6177). Any other host is
/// returned as it is.
std::string network_of(const std::string& host);

/// Whose share a host takes where no network may have all places: its network;
/// of names, which may stand for anything, that of all names. Empty for hosts
/// of one's own machine, house or provider, which nobody has to share with
/// strangers.
std::string crowd_of(const std::string& host);

} // namespace potluck
