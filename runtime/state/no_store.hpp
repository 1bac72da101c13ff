/// A piece store that keeps nothing, for peers without one: nobody gets so far
/// as to use it.
#pragma once

#include "runtime/ports/piece_store.hpp"

namespace potluck {

class no_store final : public piece_store {
public:
  static no_store& the_one() {
    static no_store it;
    return it;
  }

  std::uint64_t bound() const override {
    return 0;
  }
  bool put(const digest&, const shared_bytes&) override {
    return false;
  }
  bool has(const digest&) const override {
    return false;
  }
  shared_bytes get(const digest&) override {
    return {};
  }
};

} // namespace potluck
