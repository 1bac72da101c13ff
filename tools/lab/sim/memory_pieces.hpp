/// A piece store in memory, for tests and simulated hubs.
#pragma once

#include <map>
#include <vector>

#include "runtime/ports/piece_store.hpp"

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
  shared_bytes get(const digest& name) override {
    auto found = pieces_.find(name);
    return found == pieces_.end() ? shared_bytes{} : found->second;
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
