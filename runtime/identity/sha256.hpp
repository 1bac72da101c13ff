/// SHA-256 (FIPS 180-4): what nobody can find other bytes for, as `digest`
/// (XXH3) is not.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "messages/ids.hpp"

namespace potluck {

/// Throws `std::runtime_error` when OpenSSL fails.
sha256_digest sha256(std::string_view bytes);

/// The same of bytes that come one after the other. Throws likewise.
class sha256_stream {
public:
  sha256_stream();
  ~sha256_stream();

  void add(const void* data, std::size_t size);
  /// Ends it: once, and nothing is added behind.
  sha256_digest sum();

private:
  struct context;
  std::unique_ptr<context> context_;
};

} // namespace potluck
