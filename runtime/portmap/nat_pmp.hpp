/// Ports by NAT-PMP (RFC 6886), which Apple's and many other routers speak, and
/// those that speak PCP. Through libnatpmp.
#pragma once

#include <memory>
#include <string>

#include "runtime/portmap/port_opener.hpp"

namespace potluck {

/// @param gateway The router's numeric IPv4 address; empty: this machine's way
///     to the internet.
std::unique_ptr<port_opener> make_nat_pmp(std::string gateway = {});

} // namespace potluck
