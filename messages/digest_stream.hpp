/// `digest_of` bytes that come bit by bit: while they are in the cache anyway.
#pragma once

#include <memory>

#include "messages/ids.hpp"

namespace potluck {

class digest_stream {
public:
  digest_stream();
  ~digest_stream();
  digest_stream(digest_stream&&) noexcept;
  digest_stream& operator=(digest_stream&&) noexcept;

  /// The bytes behind those that were added before.
  void add(const void* data, std::size_t size);

  /// Of all bytes so far, as `digest_of` has it.
  digest result() const;

private:
  struct hash;
  std::unique_ptr<hash> hash_;
};

} // namespace potluck
