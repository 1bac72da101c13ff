/// What a planner knows of the peers that average together: plain figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/matchmaking.hpp"
#include "messages/packing.hpp"

namespace potluck {

/// How the shares are chosen: a setting of the run, so that members agree.
enum class share_rule {
  planned,          ///< By the figures of the lines, so that it ends soonest.
  all_reduce,       ///< Equal for all that hold the model.
  parameter_server, ///< All at the one with the fastest line.
};

/// "planned", "all-reduce", "parameter-server".
std::string to_string(share_rule x);

/// Nothing for other words than `to_string` gives.
std::optional<share_rule> share_rule_named(const std::string& name);

/// How a run plans: from its settings, so that members agree.
struct plan_rules {
  plan_rules(share_rule how = share_rule::planned) : shares{how} {
  }
  share_rule shares;
  bool packs_thin_lines = false; ///< thin_lines.hpp; else all pack alike.
  bool overlaps = false; ///< The next step is computed during the exchange.
  packing packs = packing::float32; ///< How all do, unless they go by lines.
};

struct planned_peer {
  peer_id id;
  bool computes = true;    ///< Has a gradient to send.
  bool holds_model = true; ///< Needs the means.
  bool averages = true;    ///< Has a line with all that compute or hold the
                           ///< model; else it averages nothing for them.
  double samples_per_second = 0;        ///< 0: unknown.
  double upload_bytes_per_second = 0;   ///< 0: unknown.
  double download_bytes_per_second = 0; ///< 0: unknown.
};

/// What a connection between two of them carries less than their lines.
struct planned_limit {
  std::size_t from = 0; ///< Places among the peers.
  std::size_t to = 0;
  double bytes_per_second = 0;
};

struct collaboration {
  std::vector<planned_peer> peers;        ///< In the order of the contract.
  std::vector<planned_limit> limits = {}; ///< No pair twice.
  std::uint64_t target_batch = 0;         ///< Samples behind one step.
  std::uint64_t gradient_bytes = 0;       ///< On the wire.
  std::uint32_t chunks = 1; ///< Equal parts that are averaged whole.
  share_rule rule = share_rule::planned;
  bool packs_thin_lines = false;
  bool overlaps = false;
  double computing_seconds = 0; ///< Of a step; 0: unknown.
};

/// The members of a contract as planners see them. Throws std::invalid_argument
/// when the contract has no values or no chunks.
collaboration collaboration_of(const group_contract& contract,
                               const plan_rules& rules = {});

} // namespace potluck
