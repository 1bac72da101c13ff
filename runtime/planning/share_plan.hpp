/// Who averages how much of the gradient, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/ids.hpp"
#include "messages/packing.hpp"

namespace potluck {

struct share_plan {
  /// Chunks that each member averages, in the order of the contract.
  std::vector<std::uint32_t> chunks;
  /// The same as fractions of all chunks; they sum to 1.
  std::vector<double> shares;
  /// How each member packs what it sends; empty: as the run says, all alike.
  std::vector<packing> packings;
  /// How long the exchange takes if nothing but bandwidth limits it.
  double predicted_seconds = 0;
  /// "all-reduce", "parameter server", "byteps" or "mixed".
  std::string strategy;
  /// For a person: what limits the exchange, or why shares are equal.
  std::string binding;
};

/// Of the chunk counts and packings, which are what members must agree on.
digest plan_digest(const share_plan& plan);

/// Distributes `chunks` in proportion to `weights` by largest remainder; ties
/// go to the earlier one. Weights that are not positive numbers count as zero;
/// when all do, they count as equal. Throws std::invalid_argument when there
/// are none.
std::vector<std::uint32_t> whole_chunks(const std::vector<double>& weights,
                                        std::uint32_t chunks);

} // namespace potluck
