/// What passes between a step and those that gather gradients for it, or for
/// others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "messages/cells.hpp"
#include "messages/contact.hpp"
#include "messages/packing.hpp"
#include "runtime/clock.hpp"
#include "runtime/ways/cells/mean_chain.hpp"

namespace potluck {

/// The sponsor wants this contributor's gradient.
struct contribution_wanted {
  peer_id by;
  contribution_request request;
};

/// Conductor to cell: ask these contributors for their gradients. Replaces an
/// earlier gathering.
struct gather_contributions {
  std::uint64_t step = 0;
  digest state;
  std::uint64_t gradient_values = 0;
  std::vector<peer_id> contributors;
  std::vector<packing> packings = {};         ///< Of each; none: float32.
  std::map<peer_id, chain_place> chains = {}; ///< Of those in one.
  std::map<peer_id, contact> better = {};     ///< Of those that should go.
  duration patience{0}; ///< For what gradients take on their lines.
};

} // namespace potluck
