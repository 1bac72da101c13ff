/// Look-ups and publications in the DHT: how long, how many.
#pragma once

#include <chrono>
#include <cstddef>

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks for what has expired, while anything can.
constexpr auto routing_interval = 500ms;
/// For an answer to a routing request, before anybody's was observed; then from
/// each node's own answers. A lost packet on a fast line is repeated within the
/// floor; the cap is a dial and a request over four seconds' round trips.
constexpr auto routing_patience = 3s;
constexpr auto routing_floor = 1s;
constexpr auto routing_cap = 16s;
/// For a look-up, of whose nodes each may take as long as it is allowed to: it
/// ends with what it has found.
constexpr auto lookup_patience = 30s;
/// Requests remembered after their deadlines: a late answer says how much more
/// patience the node needs.
constexpr std::size_t overdue_requests = 256;
/// The nodes closest to a key are looked up again for a publication when they
/// are this old: meanwhile few of the twenty leave.
constexpr auto closest_nodes_age = 30s;
/// Keys whose closest nodes are remembered: a run's, and hosted experts'.
constexpr std::size_t closest_nodes_kept = 64;
/// Look-ups in flight; more wait their turn.
constexpr std::size_t lookups_at_once = 64;

/// The table is refreshed while fewer look-ups are under way.
constexpr std::size_t searches_beside_refreshes = 4;
/// Nodes that connect and are asked whom they know near this peer: a crowd that
/// comes at once belongs to one swarm.
constexpr double introductions_a_second = 0.2;
constexpr double introductions_at_once = 8;

} // namespace potluck::limits
