/// One round: parts to the reducers, means back, and the agreement on whether
/// the round counts. runtime/averaging/README.md states the protocol.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/ids.hpp"
#include "messages/packing.hpp"

namespace potluck {

/// A member's gradient over one chunk, *summed* over its samples; the values
/// are the frame's body. Sums need no scaling before they are sent.
struct chunk_part {
  group_id group;
  std::uint32_t chunk = 0;   ///< Below the contract's chunk count.
  std::uint64_t samples = 0; ///< Behind the sum. MUST NOT be zero.
  potluck::packing packing = potluck::packing::float32;
};

/// Which mean of a chunk this is. Two means of one chunk and one version are
/// the same bits: each version has one reducer.
///
/// 0: none. 1: of the reducer that the plan names, over all members. `e` + 2:
/// of the reducer that the heal of epoch `e` names.
using mean_version = std::uint32_t;

/// The mean of one chunk over all members' samples but those left out; the
/// values are the body.
struct chunk_mean {
  group_id group;
  std::uint32_t chunk = 0;
  std::uint64_t samples = 0; ///< In the mean.
  potluck::packing packing = potluck::packing::float32;
  mean_version version = 1;
  /// Indices (in the contract, ascending) of members whose part is missing.
  std::vector<std::uint8_t> left_out;
  /// From the reducer of version 1: the digest of its `part_digests`, so that
  /// it cannot choose them when it is asked.
  digest seal = {};
};

/// "Please send me this mean", at once or when you have averaged it.
struct mean_request {
  group_id group;
  std::uint32_t chunk = 0;
  mean_version version = 0; ///< 0: the one that you hold.
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
  std::uint32_t epoch = 0;         ///< Of the heal that it completes; else 0.
  std::uint64_t least_samples = 0; ///< Of the chunk that counts the fewest.
  std::uint64_t most_samples = 0;  ///< Of the chunk that counts the most.
};

/// The acting leader to all: freeze, and say where you stand. A member that has
/// answered epoch e ignores everything of lower epochs.
struct round_settle {
  group_id group;
  /// Modulo the number of members: the acting leader's index in the contract.
  std::uint32_t epoch = 0;
};

/// What a member has of one chunk.
struct chunk_standing {
  mean_version version = 0; ///< Of the mean held; 0 when it holds none.
  /// In that mean; without one, of the parts that have come here.
  std::uint64_t samples = 0;

  friend bool operator==(const chunk_standing& a, const chunk_standing& b) {
    return a.version == b.version && a.samples == b.samples;
  }
};

struct round_standing {
  group_id group;
  std::uint32_t epoch = 0;
  potluck::standing standing = potluck::standing::incomplete;
  digest mean;                     ///< Empty unless prepared or committed.
  std::uint64_t least_samples = 0; ///< As in `round_prepared`.
  std::uint64_t most_samples = 0;
  /// One for each chunk of the contract; empty when decided, and when the
  /// gradient has too many chunks to heal.
  std::vector<chunk_standing> chunks = {};
  /// By which ruling the digest counts: 0 when it is of the planned means,
  /// otherwise one more than the epoch of the heal or the commit.
  std::uint32_t ruled = 0;
};

/// Where the mean of a chunk is to come from.
struct chunk_source {
  std::uint8_t member = 0;  ///< Index in the contract.
  mean_version version = 0; ///< This epoch's: the member averages it.

  friend bool operator==(const chunk_source& a, const chunk_source& b) {
    return a.member == b.member && a.version == b.version;
  }
};

/// The acting leader to all: complete the round without those that are lost.
struct round_heal {
  group_id group;
  std::uint32_t epoch = 0;
  /// Indices of the members that take part, ascending.
  std::vector<std::uint8_t> alive;
  std::vector<chunk_source> chunks; ///< One for each chunk of the contract.
};

/// The acting leader to all: whether the round counts.
struct round_verdict {
  group_id group;
  std::uint32_t epoch = 0;
  bool commit = false;
  digest mean; ///< Of the mean vector that counts; empty on abort.
  /// Where a member that lacks means fetches them; empty when nobody lacks any.
  peer_id holder;
  /// Of the means that count, as in `round_prepared`; zero on abort.
  std::uint64_t least_samples = 0;
  std::uint64_t most_samples = 0;
};

/// A member to all, after a round was aborted whose every mean it held: so that
/// all can tell whose means differ.
struct round_findings {
  group_id group;
  /// Of the means that each member of the contract averaged, in its order, as
  /// they came here; empty for a member that averages nothing.
  std::vector<digest> owners;
};

/// "Please send me your part of this chunk, too": its mean is to be checked.
/// Its reducer answers with `part_digests` as well.
struct part_request {
  group_id group;
  std::uint32_t chunk = 0;
};

/// What the reducer of version 1 summed.
struct part_digests {
  group_id group;
  std::uint32_t chunk = 0;
  /// Of each member's part as it came, in the contract's order; empty for those
  /// that are not in the mean.
  std::vector<digest> parts;
};

/// To all: the mean of this chunk seems to be none of its parts; see for
/// yourselves.
struct mean_challenge {
  group_id group;
  std::uint32_t chunk = 0;
};

/// A part along a direction drawn by chance: enough to check a sum of parts.
struct projection {
  double value = 0; ///< The scalar product.
  float norm = 0;   ///< Euclidean, of the part.

  friend bool operator==(const projection& a, const projection& b) {
    return a.value == b.value && a.norm == b.norm;
  }
};

/// A trainer to all, of a round that it has committed. The seed, drawn by one
/// of them after its commit, says which chunks and which directions.
struct part_projections {
  group_id group;
  std::uint8_t drawn_by = 0; ///< Index in the contract.
  std::uint64_t seed = 0;
  /// Of the sender's parts as they were summed, in the order of the chunks
  /// drawn.
  std::vector<projection> parts;
};

/// To the reducer of version 1: the projections of this chunk's parts do not
/// add up to its mean's.
struct sum_dispute {
  group_id group;
  std::uint32_t chunk = 0;
  std::uint64_t seed = 0;
};

/// The reducer's answer, to all: what the parts say that it has summed.
struct sum_account {
  group_id group;
  std::uint32_t chunk = 0;
  std::uint64_t seed = 0;
  /// Of each member, in the contract's order; zeros where there is no part.
  std::vector<projection> parts;
  /// Indices, ascending, of members that do not show that part again.
  std::vector<std::uint8_t> unshown;
};

} // namespace potluck
