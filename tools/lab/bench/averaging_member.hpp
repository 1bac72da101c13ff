/// One member of `potluck bench averaging`: a peer's network half, matchmaking
/// and averager as every trainer has them, and in place of the conductor an
/// actor that has nothing to compute, so that one round follows the other.
///
/// Knows nothing of the other members but their number.
#pragma once

#include <ostream>

#include "actors/handles.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/collaboration.hpp"

namespace potluck::bench {

constexpr std::uint32_t most_members = 64;

struct averaging_member_config {
  std::uint32_t number = 0;  ///< From 0; the first one leads.
  std::uint32_t members = 2; ///< In all.
  std::uint64_t rounds = 1;
  std::uint64_t values = 1; ///< Of the gradient.
  std::uint32_t chunk_values = 131072;
  potluck::packing packing = potluck::packing::float32;
  address listen{"127.0.0.1", 0};
  address announce;      ///< Where others reach it; port 0: where it listens.
  std::string dial_from; ///< See `uv_transport_options`.
  std::vector<address> seeds;
  share_rule rule = share_rule::planned;
  /// What it says of its line in bytes per second; 0: what it measures.
  double upload = 0;
  double download = 0;
  /// What the transport keeps to each way, in bytes per second; 0: nothing.
  double line = 0;
  bool insecure = false; ///< Plain TCP.
};

/// Takes part until all rounds are done, and reports each as a line of JSON on
/// `out`, times in seconds of the machine's steady clock:
///
///     {"event":"listening","address":"127.0.0.1:4000"}
///     {"event":"ready","time":12.5}
///     {"event":"round","round":1,"time":13.0,"began":12.8,"averaging":0.2,
///      "predicted":0.2,"sent":4000,"received":4000}
///     {"event":"over","problem":"","cpu_seconds":1.5,"peak_bytes":1,
///      "idle_bytes":1,"digest":"..."}
///
/// @returns Whether all rounds were done, with the means that they ought to
/// have.
bool take_part(caf::actor_system& system, averaging_member_config config,
               std::ostream& out);

} // namespace potluck::bench
