/// The round's mean vector, and where each chunk's mean belongs in it.
///
/// A place is open for each mean that the plan lets another member make, until
/// a mean is in it. Whoever receives may fill open places; the round's owner
/// puts the other means (a heal's, small ones, its own) where they belong. Each
/// value is checked, copied and hashed in one pass. Whether a mean counts is
/// not known here: the ledger says so. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/chunk_map.hpp"

namespace potluck {

class mean_places {
public:
  enum class verdict {
    placed,       ///< Its values are in the vector.
    not_open,     ///< No place waits for it.
    wrong_length, ///< The chunk has another number of values.
    not_finite,   ///< A value is NaN or infinite; the place may be written to.
  };

  /// @param whole `map.gradient_values()` floats; written to as long as places
  /// are open, and by `place`.
  mean_places(const chunk_map& map, std::shared_ptr<std::vector<float>> whole);

  /// Opens a place for every chunk of others that has so many bytes at least.
  void open(std::size_t self, std::size_t least_bytes);

  /// Fills an open place with the planned mean, version 1 of its owner's; the
  /// place is closed then. Any thread.
  verdict take(std::size_t member, const chunk_mean& head,
               const shared_bytes& body);

  /// Writes a mean that is wanted to its place, which is closed from here on.
  verdict place(std::uint32_t chunk, packing how, const shared_bytes& body);

  /// Nothing is taken any more.
  void close();
  /// No mean is waited for here.
  bool none_open() const;

  const std::shared_ptr<std::vector<float>>& whole() const {
    return whole_;
  }
  /// The mean that is in its place, with its digest if that is known.
  shared_bytes bytes(std::uint32_t chunk) const;
  /// The digest of the chunks' digests: one of all values.
  digest whole_digest();

private:
  verdict write(std::uint32_t chunk, packing how, const shared_bytes& body);
  void shut(std::uint32_t chunk);

  const chunk_map map_;
  const std::shared_ptr<std::vector<float>> whole_;
  mutable std::mutex mutex_; ///< Of all that follows.
  std::vector<bool> open_;   ///< Of each chunk; empty: none is.
  std::size_t open_count_ = 0;
  /// Of the values in the vector: made while they were in the cache.
  std::map<std::uint32_t, digest> digests_;
};

} // namespace potluck
