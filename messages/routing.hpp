/// Kademlia's conversation (Maymounkov and Mazieres 2002): ping, find a node,
/// store a record, find a record. Every request carries a token that its answer
/// repeats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/contact.hpp"
#include "messages/seal.hpp"

namespace potluck {

/// What a record says. The values are on the wire: append only. How large each
/// may be, how long it lives and what it must hold is a table
/// (runtime/dht/record_rules.hpp).
enum class record_kind : std::uint8_t {
  none = 0,        ///< Of no record that is stored.
  progress = 1,    ///< A progress report, under its run's key.
  bootstrap = 2,   ///< A bootstrap's report, under the key of all of them.
  expert_host = 3, ///< An announcement by who hosts an expert.
  replica = 4,     ///< An announcement by who keeps a replica of one.
  host_notice = 5, ///< A host's sign of life.
  coordinates = 6, ///< What a host's experts have behind a prefix.
};

/// What one peer says under one key of the DHT. Many peers may publish under a
/// key, each one record (hivemind calls this a dictionary). Nothing counts
/// without its owner's seal.
struct dht_record {
  record_key key;
  /// Its owner's id, raw bytes. Not on the wire: it follows from the seal.
  std::string subkey;
  std::string value; ///< As its kind has it.
  /// Remaining life in milliseconds, so that clocks need not agree. Not zero,
  /// and at most the seal's.
  std::uint32_t lives_ms = 0;
  record_kind kind = record_kind::none;
  potluck::seal seal = {};
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
/// A mark is 32 bits of an id, a peer's or that of a record's owner. Every
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
  known_marks known_records; ///< By owner; at most `max_known`.
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
