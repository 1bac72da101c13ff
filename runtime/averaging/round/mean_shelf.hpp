/// The means that this member has averaged in a round, and the seals by which
/// planned reducers commit themselves to what they summed.
///
/// Pure bookkeeping.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/value_pool.hpp"

namespace potluck {

class mean_shelf {
public:
  /// Keeps a mean, and seals it.
  /// @param parts Digests of the parts in it.
  void keep(std::uint32_t chunk,
            std::shared_ptr<const std::vector<float>> values,
            std::vector<digest> parts);
  /// The same for one that others get packed: what is kept is what they unpack.
  void keep_packed(std::uint32_t chunk, packing how,
                   const std::vector<float>& values, std::vector<digest> parts,
                   value_pool& rooms);

  /// As floats; of size 0 when it is not on the shelf.
  shared_bytes values(std::uint32_t chunk) const;
  /// As the planned reducer sends it; of size 0 when that is as floats.
  shared_bytes packed(std::uint32_t chunk) const;
  /// Chunks on the shelf, ascending.
  std::vector<std::uint32_t> chunks() const;
  /// It is where it belongs: the shelf needs its floats no more.
  void drop(std::uint32_t chunk) {
    made_.erase(chunk);
  }

  /// Digests of the parts in a mean made here; null for others.
  const std::vector<digest>* parts(std::uint32_t chunk) const;

  /// By another planned reducer, with its mean.
  void note_seal(std::uint32_t chunk, const digest& seal) {
    seals_[chunk] = seal;
  }
  /// Empty where it is not known.
  digest seal(std::uint32_t chunk) const;

private:
  std::map<std::uint32_t, std::shared_ptr<const std::vector<float>>> made_;
  std::map<std::uint32_t, shared_bytes> packed_;
  std::map<std::uint32_t, std::vector<digest>> parts_;
  std::map<std::uint32_t, digest> seals_;
};

} // namespace potluck
