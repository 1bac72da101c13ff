/// What a peer that asks the DHT wants done, and what has come to an end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "messages/message.hpp"

namespace potluck {

/// Send this to a node, which may have to be dialled.
struct dht_call {
  contact to;
  message content;
  /// Of a look-up's: on which of its paths, from 1 on.
  std::size_t path = 0;
};
/// A look-up of records has come to its end.
struct lookup_over {
  std::uint64_t number = 0; ///< As it was given.
  record_key key;
  std::vector<dht_record> records; ///< Those kept here included.
  std::uint32_t answers = 0;       ///< Nodes that answered.
  std::uint32_t stored = 0; ///< Records of the key, as most of these say.
};
/// A publication has.
struct publication_over {
  record_key key;
  std::uint32_t copies = 0; ///< Nodes that it went to.
};
using dht_actions
    = std::vector<std::variant<dht_call, lookup_over, publication_over>>;

} // namespace potluck
