/// Reads from the means under way whether every sample was counted once: the
/// simulated model has a tally at certain places of its gradient.
#pragma once

#include <functional>

#include "messages/averaging.hpp"
#include "messages/packing.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/state/charter.hpp"

namespace potluck::simulation {

/// Values from one tally to the next: of any chunk that a round may have, the
/// length is a multiple.
std::uint32_t tally_distance(const run_settings& settings);

class mean_watch {
public:
  /// @param values Parameters of the model.
  mean_watch(const run_settings& settings, std::size_t values);

  /// The tally of a frame that carries a mean and has one; not a number when
  /// its length is none of the model's.
  std::optional<float> tally_of(const outgoing_frame& x) const;

private:
  bool has_tally(const chunk_mean& x, std::size_t bytes) const;

  std::uint32_t shortest_chunk_;
  std::size_t values_;
  bool redrawn_; ///< Parameters are averaged as well, which have no tallies.
};

} // namespace potluck::simulation
