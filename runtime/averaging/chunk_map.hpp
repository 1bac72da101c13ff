/// Cuts the flat gradient into chunks and says which member averages each.
///
/// Knows nothing of bandwidths: how many chunks each member gets comes from the
/// share plan (runtime/planning).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace potluck::limits {

/// Values of a part of a contribution: 64 KiB, of which a frame's own bytes are
/// a thousandth.
constexpr std::uint32_t least_contribution_part = 16384;

} // namespace potluck::limits

namespace potluck {

/// A run of values of the flat gradient.
struct value_range {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
};

/// A run of chunks; empty when `count` is zero.
struct chunk_range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// How many chunks of `chunk_values` values cover `gradient_values`. Throws
/// std::invalid_argument when either is zero or the result exceeds 32 bits.
std::uint32_t count_chunks(std::uint64_t gradient_values,
                           std::uint32_t chunk_values);

/// Values of every part of a contribution (runtime/ways/cells) but its last: as
/// many as a chunk of the run has, but no fewer than
/// `limits::least_contribution_part`, for nobody shares its parts as a group
/// does a gradient's chunks.
std::uint32_t contribution_values(std::uint32_t chunk_values);

/// Chunks are numbered along the gradient and every member owns one contiguous
/// run of them, in the order of the contract. Immutable.
class chunk_map {
public:
  /// @param chunks_per_member In the contract's order; zeros are allowed.
  /// Throws std::invalid_argument unless they sum to the number of chunks.
  chunk_map(std::uint64_t gradient_values, std::uint32_t chunk_values,
            const std::vector<std::uint32_t>& chunks_per_member);

  std::uint32_t chunk_count() const {
    return starts_.back();
  }
  std::size_t member_count() const {
    return starts_.size() - 1;
  }
  std::uint64_t gradient_values() const {
    return gradient_values_;
  }

  /// Where the chunk lies. Only the last may be shorter than the others.
  /// Throws std::out_of_range when there is no such chunk.
  value_range range(std::uint32_t chunk) const;

  /// The member (an index into the contract) that averages the chunk. Throws
  /// std::out_of_range when there is no such chunk.
  std::size_t owner(std::uint32_t chunk) const;

  /// The chunks that the member averages. Throws std::out_of_range when there
  /// is no such member.
  chunk_range chunks_of(std::size_t member) const;

private:
  std::uint64_t gradient_values_;
  std::uint32_t chunk_values_;
  /// First chunk of each member, and the chunk count behind the last.
  std::vector<std::uint32_t> starts_;
};

} // namespace potluck
