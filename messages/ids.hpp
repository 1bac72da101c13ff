/// Identifiers as distinct types, so that a peer cannot be passed where a
/// record's key is meant. All are fixed-size byte strings, ordered bytewise,
/// printed as hex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace potluck {

/// A byte string of `Size` bytes that only compares with its own kind.
template <class Tag, std::size_t Size>
struct identifier {
  static constexpr std::size_t size = Size;

  std::array<std::uint8_t, Size> bytes{};

  friend bool operator==(const identifier& a, const identifier& b) {
    return a.bytes == b.bytes;
  }
  friend bool operator!=(const identifier& a, const identifier& b) {
    return a.bytes != b.bytes;
  }
  friend bool operator<(const identifier& a, const identifier& b) {
    // Nearly all differ in their first bytes: no call, one comparison.
    const auto x = a.head();
    const auto y = b.head();
    return x != y ? x < y : a.bytes < b.bytes;
  }

  /// True when every byte is zero, which stands for "none".
  bool empty() const {
    for (auto b : bytes)
      if (b != 0)
        return false;
    return true;
  }

private:
  /// The first bytes as a number that is ordered as they are.
  std::uint64_t head() const {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < sizeof(result) && i < Size; ++i)
      result = result << 8 | bytes[i];
    return result;
  }
};

/// A peer; also its node id in the DHT's 256-bit space.
using peer_id = identifier<struct peer_id_tag, 32>;

/// Where a record lives in the DHT: a point of the same 256-bit space.
using record_key = identifier<struct record_key_tag, 32>;

/// One attempt of one group to average one step. Drawn at random by its leader.
using group_id = identifier<struct group_id_tag, 16>;

/// XXH3-128 of some bytes: detects differences, does not resist forgery.
using digest = identifier<struct digest_tag, 16>;

/// SHA-256 of some bytes: nobody finds others with the same.
using sha256_digest = identifier<struct sha256_tag, 32>;

/// Lower-case hex of `size` bytes.
std::string to_hex(const std::uint8_t* data, std::size_t size);

/// Reads exactly `size` bytes of hex into `out`; false on any other text.
bool from_hex(std::string_view text, std::uint8_t* out, std::size_t size);

template <class Tag, std::size_t Size>
std::string to_string(const identifier<Tag, Size>& x) {
  return to_hex(x.bytes.data(), Size);
}

/// The first eight hex digits: what people read in logs and tables.
template <class Tag, std::size_t Size>
std::string short_name(const identifier<Tag, Size>& x) {
  return to_hex(x.bytes.data(), 4);
}

template <class Id>
std::optional<Id> parse_id(std::string_view text) {
  Id x;
  if (!from_hex(text, x.bytes.data(), Id::size))
    return std::nullopt;
  return x;
}

/// XXH3-128 over `size` bytes, in its canonical (big-endian) byte order.
digest digest_of(const void* data, std::size_t size);

/// Of several parts: over their digests, one behind the other.
digest digest_of(const std::vector<digest>& parts);

/// The DHT key of a name: two chained XXH3-128 values, so 256 bits.
record_key key_of(std::string_view name);

} // namespace potluck
