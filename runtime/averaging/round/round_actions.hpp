/// What the agreement on a round says to other members, and what it wants of
/// its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/message.hpp"
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

/// What is under way no longer counts once that is heard, or has to be known.
inline bool ends_bulk(const message& x) {
  return std::holds_alternative<round_settle>(x)
         || std::holds_alternative<round_standing>(x)
         || std::holds_alternative<round_heal>(x)
         || std::holds_alternative<round_verdict>(x)
         || std::holds_alternative<mean_request>(x);
}

} // namespace potluck
