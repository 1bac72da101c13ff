/// Kademlia's conversation (Maymounkov and Mazieres 2002): ping, find a node,
/// store a record, find a record. Every request carries a token that its answer
/// repeats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/contact.hpp"

namespace potluck {

/// One value in the DHT. Values of one `key` are told apart by `subkey`, so
/// that many peers can publish under one key (hivemind calls this a
/// dictionary). Life is relative, so that peers' clocks need not agree.
struct dht_record {
  record_key key;
  std::string subkey;         ///< Usually the publisher's id, raw bytes.
  std::string value;          ///< Opaque bytes.
  std::uint32_t lives_ms = 0; ///< Remaining life in milliseconds. Not zero.
};

struct routing_ping {
  std::uint64_t token = 0;
};
struct routing_pong {
  std::uint64_t token = 0;
};

/// What an asker knows already, so that no answer repeats it: where all nodes
/// know each other, answers would else be all alike, and heavy.
///
/// A mark is 32 bits of a name, a peer's id or a record's sub-key. Every
/// request draws them anew by its token: two names that share a mark in one do
/// not in the next.
using known_marks = std::vector<std::uint32_t>;

/// @param name Raw bytes.
std::uint32_t known_mark(std::string_view name, std::uint64_t token);
std::uint32_t known_mark(const peer_id& id, std::uint64_t token);

struct find_nodes {
  std::uint64_t token = 0;
  record_key target;
  known_marks known_nodes; ///< At most `max_known`.
};
struct nodes_found {
  std::uint64_t token = 0;
  std::vector<contact> nodes; ///< Closest first; at most the bucket size.
};

struct store_records {
  std::uint64_t token = 0;
  std::vector<dht_record> records;
};
struct records_stored {
  std::uint64_t token = 0;
  std::uint32_t accepted = 0; ///< How many of the records were kept.
};

struct find_records {
  std::uint64_t token = 0;
  record_key key;
  known_marks known_nodes;   ///< At most `max_known`.
  known_marks known_records; ///< By sub-key; at most `max_known`.
  /// Records wanted, any of the others; 0: all. At most `max_records`.
  std::uint32_t most = 0;
};
struct records_found {
  std::uint64_t token = 0;
  std::vector<dht_record> records; ///< What the answerer stores; may be empty.
  std::vector<contact> nodes;      ///< Its closest nodes to the key.
  /// Records of the key that it stores, those included that it does not send.
  std::uint32_t stored = 0;
};

} // namespace potluck
