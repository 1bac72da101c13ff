/// Records as somebody may make them who knows the secret, sound or not.
#pragma once

#include <initializer_list>

#include "runtime/random.hpp"
#include "runtime/uv/tls_records.hpp"

namespace potluck::forge {

using bytes = byte_array;

inline traffic_secret secret_of(std::uint8_t seed) {
  std::array<std::uint8_t, traffic_secret::size> x{};
  x.fill(seed);
  return traffic_secret{x.data()};
}

inline bytes noise(std::size_t size, std::uint64_t seed) {
  random_stream chance{seed};
  bytes x(size);
  for (auto& b : x)
    b = static_cast<std::uint8_t>(chance.below(256));
  return x;
}

/// Seals what it is told to.
class forger {
public:
  explicit forger(tls_cipher which = tls_cipher::aes_128_gcm)
      : key_(which, secret_of(1), traffic_key::use::seal) {
  }

  /// @param padding Zeros behind the type.
  bytes record(std::uint8_t type, const bytes& content,
               std::size_t padding = 0) {
    auto inside = content;
    if (padding > 0) {
      inside.push_back(type);
      inside.insert(inside.end(), padding - 1, 0);
      type = 0;
    }
    bytes result(inside.size() + record_overhead_bytes);
    key_.seal(type, inside.data(), inside.size(), result.data());
    return result;
  }
  bytes data(const bytes& content, std::size_t padding = 0) {
    return record(23, content, padding);
  }
  bytes handshake(const bytes& content) {
    return record(22, content);
  }
  bytes alert(std::uint8_t level, std::uint8_t what) {
    return record(21, {level, what});
  }
  bytes update(std::uint8_t requested) {
    auto result = handshake({24, 0, 0, 1, requested});
    key_.replace();
    return result;
  }

private:
  traffic_key key_;
};

/// All that an opener gives out of `wire`, fed in pieces of `cut` bytes and
/// read into rooms of `room`; how it ended is in `last`.
inline bytes open_all(record_opener& x, const bytes& wire,
                      record_opener::verdict& last,
                      std::size_t cut = ~std::size_t{0},
                      std::size_t room = record_bytes) {
  bytes result, into(room);
  last = record_opener::verdict::more;
  for (std::size_t i = 0; i < wire.size(); i += cut) {
    // An exact copy, so that a sanitizer sees a read beyond its end.
    const auto part = std::min(cut, wire.size() - i);
    const bytes piece(wire.data() + i, wire.data() + i + part);
    x.feed(piece.data(), piece.size());
    for (;;) {
      const auto got = x.read(into.data(), into.size());
      last = got.what;
      if (got.what != record_opener::verdict::content)
        break;
      result.insert(result.end(), into.data(), into.data() + got.size);
    }
    if (wire.size() - i <= cut)
      break;
  }
  return result;
}

/// In this order, also if they are made only now.
inline bytes join(std::initializer_list<bytes> parts) {
  bytes all;
  for (const auto& x : parts)
    all.insert(all.end(), x.begin(), x.end());
  return all;
}

} // namespace potluck::forge
