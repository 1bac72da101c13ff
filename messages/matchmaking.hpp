/// How peers that hold the same step become a group.
///
/// The leader sends `group_invite`; each invited peer freezes its gradient and
/// sends `group_answer`; the leader sends `group_start` with the contract that
/// every member plans from, or `group_cancel`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

struct group_invite {
  group_id group;
  std::uint64_t step = 0; ///< The step that the group will complete.
  digest state;           ///< What the members must hold before it.
};

struct group_answer {
  group_id group;
  bool accepted = false;
  std::string reason;        ///< For logs, when not accepted.
  std::uint64_t samples = 0; ///< Behind the frozen gradient; may be zero.
  double loss_sum = 0;       ///< Sum of the losses of those samples.
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  /// With whom the sender will not work, because they were banned or lied
  /// lately. The leader does without whom most members avoid, and without one
  /// of each other pair.
  std::vector<peer_id> avoid = {};
  std::vector<slow_pair> slow_pairs = {}; ///< The slowest first.
  /// With whom the sender has no line but through a hub: no part of a gradient
  /// may pass between the two.
  std::vector<peer_id> relayed = {};
};

/// One line of the contract.
struct group_member {
  contact who;
  potluck::role role = potluck::role::trainer;
  std::uint64_t samples = 0; ///< That count, of those that it answered with.
  double loss_sum = 0;       ///< As many parts of what it answered.
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  std::vector<slow_pair> slow_pairs = {}; ///< As it answered.
  /// As it answered, of the members. Its own id: to all other trainers.
  std::vector<peer_id> relayed = {};
};

/// Everything from which the members derive the same plan, and the order in
/// which they succeed a leader that vanishes: trainers first, as listed.
struct group_contract {
  group_id group;
  std::uint64_t step = 0;
  std::uint64_t gradient_values = 0; ///< Length of the flat gradient.
  std::uint32_t chunk_values = 0;    ///< Values a chunk; the last is shorter.
  /// How long a member waits for progress before it suspects, in milliseconds.
  std::uint32_t patience_ms = 0;
  std::vector<group_member> members; ///< The leader first. No id twice.
  digest plan;                       ///< Of the leader's share plan.
  /// A step over fewer samples does not count. At most the members' total.
  std::uint64_t least_samples = 0;
  /// What computing a step takes in milliseconds, as the leader sees it; 0
  /// where it does not know.
  std::uint32_t computing_ms = 0;
};

/// Also goes to who accepted and is left out for its lines: the contract does
/// not list it.
struct group_start {
  group_contract contract;
};

struct group_cancel {
  group_id group;
  std::string reason;
};

} // namespace potluck
