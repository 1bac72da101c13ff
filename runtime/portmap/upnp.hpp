/// Ports by UPnP's Internet Gateway Device, which most homes' routers speak.
/// Through libminiupnpc.
#pragma once

#include <memory>
#include <string>

#include "runtime/portmap/port_opener.hpp"

namespace potluck {

/// @param description Where the router describes itself (an http address);
///     empty: it is searched for, which takes two seconds.
std::unique_ptr<port_opener> make_upnp(std::string description = {});

} // namespace potluck
