/// A port mapper over protocols that block: it asks them one after the other on
/// a thread of its own, and renews what it got.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "runtime/portmap/port_opener.hpp"

namespace potluck {

/// How long the end waits for a router.
constexpr std::chrono::milliseconds closing_patience{2000};
/// Between two tries while no router opens a port: one may be switched on, or
/// found where the machine moves.
constexpr std::chrono::minutes mapping_pause{10};

/// @param protocols The best first.
/// @param unit What counts as a second; tests have shorter ones.
std::unique_ptr<port_mapper>
keep_mapping(std::vector<std::unique_ptr<port_opener>> protocols,
             std::chrono::milliseconds unit = std::chrono::seconds{1});

/// NAT-PMP, then UPnP.
std::unique_ptr<port_mapper> make_port_mapper();

} // namespace potluck
