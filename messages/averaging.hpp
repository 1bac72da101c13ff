/// One round: parts to the reducers, means back, and the agreement on whether
/// the round counts. runtime/averaging/README.md states the protocol.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

/// How values are written in a body. The values are on the wire: append only.
enum class packing : std::uint8_t {
  float32 = 0, ///< Little-endian IEEE 754 binary32.
};

/// A member's gradient over one chunk, *summed* over its samples; the values
/// are the frame's body. Sums need no scaling before they are sent.
struct chunk_part {
  group_id group;
  std::uint32_t chunk = 0;   ///< Below the contract's chunk count.
  std::uint64_t samples = 0; ///< Behind the sum. MUST NOT be zero.
  potluck::packing packing = potluck::packing::float32;
};

/// The mean over all members' samples of one chunk; the values are the body.
struct chunk_mean {
  group_id group;
  std::uint32_t chunk = 0;
  std::uint64_t samples = 0; ///< In the mean: the contract's total.
  potluck::packing packing = potluck::packing::float32;
};

/// "Please send me this mean": to a member that holds all of them.
struct mean_request {
  group_id group;
  std::uint32_t chunk = 0;
};

/// What a member can say of its own round. The values are on the wire.
enum class standing : std::uint8_t {
  incomplete = 0, ///< Some means are missing.
  prepared = 1,   ///< Holds every mean.
  committed = 2,  ///< Has applied them.
  aborted = 3,    ///< Has given the round up.
  spectator = 4,  ///< Needs no mean (auxiliary).
};

/// A member to the acting leader, when it holds every mean.
struct round_prepared {
  group_id group;
  digest mean; ///< Of the whole mean vector: all members' MUST agree.
};

/// The acting leader to all: freeze, and say where you stand. A member that has
/// answered epoch e ignores everything of lower epochs.
struct round_settle {
  group_id group;
  /// Modulo the number of members: the acting leader's index in the contract.
  std::uint32_t epoch = 0;
};

struct round_standing {
  group_id group;
  std::uint32_t epoch = 0;
  potluck::standing standing = potluck::standing::incomplete;
  digest mean; ///< Empty unless prepared or committed.
};

/// The acting leader to all: whether the round counts.
struct round_verdict {
  group_id group;
  std::uint32_t epoch = 0;
  bool commit = false;
  digest mean; ///< Of the mean vector that counts; empty on abort.
  /// Where a member that lacks means fetches them; empty when nobody lacks any.
  peer_id holder;
};

} // namespace potluck
