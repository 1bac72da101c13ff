/// Where pieces of states and means are kept by their digests: a folder, or a
/// test's memory. It holds what is asked for, and believes nothing.
#pragma once

#include <cstdint>

#include "messages/message.hpp"

namespace potluck {

class piece_store {
public:
  virtual ~piece_store() = default;

  /// In bytes, of all pieces together.
  virtual std::uint64_t bound() const = 0;
  /// Keeps a copy of the piece, whose digest was verified, and drops those that
  /// nobody used for longest to make room. False: it cannot be kept.
  virtual bool put(const digest& name, const shared_bytes& piece) = 0;
  virtual bool has(const digest& name) const = 0;
  /// Reads it. Nothing (size 0) when it is not here, or is not what its name
  /// says any more: then it is dropped.
  virtual shared_bytes get(const digest& name) = 0;
};

} // namespace potluck
