/// Collects the means of all chunks into one flat vector, each exactly once.
///
/// Does not judge who sent a mean: the owner of the round asks
/// round_agreement whether the mean is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

class gradient_assembly {
public:
  enum class verdict {
    placed,       ///< Copied; others are missing.
    complete,     ///< Copied, and it was the last one missing.
    repeated,     ///< Already here.
    wrong_chunk,  ///< There is no such chunk.
    wrong_length, ///< The chunk has another number of values.
    not_finite,   ///< A value is NaN or infinite.
  };

  /// @param out `map.gradient_values()` floats that must outlive this object.
  gradient_assembly(chunk_map map, float* out);

  /// Copies a mean to its place, or says why not. What is refused is not here
  /// then, though its place may have been written to if it is not finite.
  verdict place(std::uint32_t chunk, const float* values, std::size_t count);
  /// The same, from the body in which it came.
  /// @param sum Gets the digest of the values that were placed.
  verdict place(std::uint32_t chunk, packing how, const shared_bytes& body,
                digest& sum);

  /// The mean's values have been written to their place, and are finite.
  verdict in_place(std::uint32_t chunk);

  bool complete() const {
    return missing_ == 0;
  }

  /// The chunks that are yet to come, ascending.
  std::vector<std::uint32_t> missing() const;

  /// Another mean of this chunk counts now, and may be placed.
  void forget(std::uint32_t chunk);

private:
  chunk_map map_;
  float* out_;
  std::vector<bool> here_;
  std::uint32_t missing_;
};

} // namespace potluck
