/// What a member says of itself in a round, as the agreement compares it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/averaging.hpp"
#include "messages/ids.hpp"

namespace potluck {

/// A whole mean vector: equal marks are the same bits over the same samples.
struct vector_mark {
  digest mean;
  std::uint64_t least_samples = 0; ///< Of the chunk that counts the fewest.
  std::uint64_t most_samples = 0;

  friend bool operator==(const vector_mark& a, const vector_mark& b) {
    return a.mean == b.mean && a.least_samples == b.least_samples
           && a.most_samples == b.most_samples;
  }
};

/// Where a member stands, by its own word.
struct member_stand {
  standing is = standing::incomplete;
  vector_mark has = {};
  std::vector<chunk_standing> chunks = {};
  std::uint32_t ruled = 0; ///< As in `round_standing`.

  bool final() const {
    return is == standing::committed || is == standing::aborted;
  }
  /// It has these means.
  bool holds(const vector_mark& mean) const {
    return (is == standing::prepared || is == standing::committed)
           && has == mean;
  }
};

/// As bytes, for fingerprints: equal strings, equal values.
void append(std::string& out, std::int64_t x);
void append(std::string& out, const vector_mark& x);
void append(std::string& out, const member_stand& x);

} // namespace potluck
