/// How a state or a mean is cut into pieces, and the manifest that lists them.
///
/// Every donor of one version writes the same list: sizes follow from the
/// length alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

/// `least_piece_bytes`, doubled until `bytes` are at most `pieces_passed_on`
/// pieces, but not beyond `usual_piece_bytes`, unless they are more than
/// `pieces_wanted`, and then at most to `max_body_bytes`.
std::uint32_t piece_bytes_for(std::uint64_t bytes);

/// Offset and size of a piece in its whole; size 0 when there is none.
struct piece_extent {
  std::uint64_t offset = 0;
  std::size_t size = 0;
};
piece_extent extent_of(const state_manifest& manifest, std::uint32_t piece);

/// Over all that donors of one version must agree on: which of them list the
/// same.
digest listing_of(const state_manifest& manifest);

/// Why `manifest` does not list a state, with so many moments, or a mean, of
/// `values` parameters in our pieces; empty when it does.
std::string shape_problem(const state_manifest& manifest, std::uint64_t values,
                          unsigned moments = most_moments);

/// A step's mean as its donors keep it: never changed.
struct passed_mean {
  std::uint64_t step = 0; ///< That it completed.
  std::uint64_t samples = 0;
  std::uint64_t history_samples = 0; ///< Behind the state after it.
  digest before;                     ///< The state that it was applied to,
  digest after;                      ///< and what that became.
  std::shared_ptr<const std::vector<float>> values;
  bool lone = false; ///< Nobody else was known then that could have missed it.
};

/// Lists the mean's pieces. The whole is read once.
state_manifest manifest_of(const passed_mean& mean);

/// Nothing (size 0) when there is no such piece. Keeps the mean alive.
shared_bytes piece_of(const passed_mean& mean, std::uint32_t piece);

} // namespace potluck
