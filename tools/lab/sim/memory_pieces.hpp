/// A piece store in memory, for tests and simulated hubs.
#pragma once

#include <map>
#include <vector>

#include "runtime/ports/piece_store.hpp"
#include "tools/lab/sim/sim_disk.hpp"

namespace potluck {

class memory_pieces final : public piece_store {
public:
  explicit memory_pieces(std::uint64_t most = std::uint64_t{1} << 30)
      : most_(most) {
  }
  std::uint64_t bound() const override {
    return most_;
  }
  bool put(const digest& name, const shared_bytes& piece) override {
    if (full)
      return false;
    auto copy = std::make_shared<std::vector<std::uint8_t>>(
        piece.data, piece.data + piece.size);
    if (bends)
      copy->back() ^= 1;
    const auto* bytes = copy->data();
    pieces_[name] = {copy, bytes, copy->size()};
    return true;
  }
  bool has(const digest& name) const override {
    return pieces_.count(name) != 0;
  }
  /// As from a disk, a damaged one is not given but dropped.
  shared_bytes get(const digest& name) override {
    auto found = pieces_.find(name);
    if (found == pieces_.end())
      return {};
    const auto piece = found->second;
    if (!bends && digest_of(piece.data, piece.size) != name) {
      pieces_.erase(found);
      return {};
    }
    return piece;
  }
  /// A bit flips in one of them.
  void rot(random_stream& chance) {
    if (pieces_.empty())
      return;
    auto at = pieces_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(chance.below(pieces_.size())));
    auto copy = std::make_shared<std::vector<std::uint8_t>>(
        at->second.data, at->second.data + at->second.size);
    flip_a_bit(*copy, chance);
    at->second = {copy, copy->data(), copy->size()};
  }
  void lose(const digest& name) {
    pieces_.erase(name);
  }

  bool full = false;  ///< It takes nothing.
  bool bends = false; ///< What it gives is not what it got.

private:
  const std::uint64_t most_;
  std::map<digest, shared_bytes> pieces_;
};

} // namespace potluck
