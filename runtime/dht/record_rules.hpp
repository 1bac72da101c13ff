/// The kinds of records: how large each may be, how long it lives, and what its
/// owner may say by it. Whoever stores a record for others asks, and so does
/// whoever believes one.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "messages/routing.hpp"

namespace potluck {

struct record_rule {
  record_kind kind;
  std::size_t most_bytes; ///< Of its value.
  std::chrono::milliseconds longest_life;
  /// What is wrong with the value, as a sentence; empty: nothing. The owner
  /// speaks of itself alone.
  std::string (*problem)(const std::string& value, const peer_id& owner);
};

/// Null for what this version does not know.
const record_rule* rule_of(record_kind x);

/// What keeps a record of this owner from being one, whoever passes it on; of
/// its seal only the life is looked at. Empty: nothing.
std::string problem_with(const dht_record& x, const peer_id& owner);

/// An owner as the sub-key of its records.
inline std::string subkey_of(const peer_id& owner) {
  return {owner.bytes.begin(), owner.bytes.end()};
}

} // namespace potluck
