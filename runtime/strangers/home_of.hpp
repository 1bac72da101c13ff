/// What of an address tells its owner apart from others.
#pragma once

#include <string>

namespace potluck {

/// What one customer of a provider has, and can make thousands of ids and
/// addresses of: a whole IPv4 address, 64 bits of IPv6, or a whole name.
std::string home_of(const std::string& host);

/// The part of an address that one house or school shares: 24 bits of IPv4, 48
/// of IPv6, or a whole name.
std::string prefix_of(const std::string& host);

} // namespace potluck
