/// How a trainer that is in no group takes part: it hands its gradient to a
/// member, its sponsor, which averages for both. runtime/ways/cells/README.md
/// states the protocol.
#pragma once

#include <cstdint>
#include <string>

#include "messages/averaging.hpp"
#include "messages/contact.hpp"

namespace potluck {

/// A sponsor to a contributor: "stop, and hand me your gradient."
struct contribution_request {
  std::uint64_t number = 0; ///< Of this request; its answers repeat it.
  std::uint64_t step = 0;   ///< Steps that the contributor must have applied...
  digest state;             ///< ...and the state that it must hold.
  /// How the values are to come.
  potluck::packing packing = potluck::packing::float32;
  /// Who is next to it in its cell's chain. The one nearer to the sponsor,
  /// which it asks first for the step's mean; empty: the sponsor itself is, or,
  /// with nobody farther either, it is in no chain.
  contact nearer = {};
  peer_id farther = {}; ///< Who will ask it for that; empty: nobody.
  /// A member with fewer contributors, which it should hand its next gradients
  /// to; empty: it should stay.
  contact better = {};
};

/// A contributor to its sponsor: one chunk of its gradient, *summed* over its
/// samples; the values are the frame's body. All chunks come in order.
struct contribution_part {
  std::uint64_t number = 0;
  std::uint32_t chunk = 0;
  std::uint64_t samples = 0; ///< Behind the whole gradient. MUST NOT be zero.
  double loss_sum = 0;       ///< Of those samples.
  potluck::packing packing = potluck::packing::float32;
};

/// Of a contributor: it has nothing to hand over. Of a sponsor: whether the
/// contribution is in its own gradient now.
struct contribution_answer {
  std::uint64_t number = 0;
  bool accepted = false;
  std::string reason; ///< For logs, when not accepted.
};

} // namespace potluck
