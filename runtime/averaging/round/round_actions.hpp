/// What the agreement on a round says to other members, and what it wants of
/// its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "messages/averaging.hpp"
#include "runtime/averaging/round/chunk_ledger.hpp"

namespace potluck {

using round_message = std::variant<round_prepared, round_settle, round_standing,
                                   round_verdict, round_heal>;

/// "Send this to that member", by its index in the contract.
struct send_to_member {
  std::size_t to = 0;
  round_message what;
};

/// "This is final here." Returned exactly once. A trainer that reads `commit`
/// holds the means with this digest; an auxiliary is merely released.
struct round_decision {
  bool commit = false;
  digest mean; ///< Empty on abort.
  /// Behind the chunk that counts the fewest; 0 on abort.
  std::uint64_t samples = 0;
};

using round_action = std::variant<send_to_member, round_decision, send_part,
                                  send_mean, ask_mean, average_chunk>;
using round_actions = std::vector<round_action>;

} // namespace potluck
