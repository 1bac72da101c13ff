/// What a peer that has the keys may send: any records, in any order and cut.
///
///     clang++ -std=c++17 -g -O1 -DPOTLUCK_FUZZ_RECORDS
///       -fsanitize=fuzzer,address,undefined ...
///
/// The input is a script: the first bytes say how the stream is cut and how
/// much room its reader has, then each step appends a record or spoils one.
/// Without libFuzzer, records_fuzz_test.cpp drives the same function.
#include <algorithm>
#include <cstdlib>

#include "runtime/uv/tls_records.hpp"

using namespace potluck;

namespace {

/// Takes numbers off the input; zeros behind its end.
struct script {
  bool over() const {
    return size == 0;
  }
  std::size_t byte() {
    if (size == 0)
      return 0;
    --size;
    return *data++;
  }
  std::size_t number() {
    const auto high = byte();
    return high << 8 | byte();
  }
  const std::uint8_t* data;
  std::size_t size;
};

/// What was sealed as content, in order, and the stream that carries it.
struct stream {
  traffic_key key{tls_cipher::aes_128_gcm, {}, traffic_key::use::seal};
  byte_array wire, content;

  /// @param inside Content, then its type, then padding.
  void append(byte_array inside) {
    const auto before = wire.size();
    wire.resize(before + inside.size() + record_overhead_bytes - 1);
    key.seal(inside.back(), inside.data(), inside.size() - 1,
             wire.data() + before);
    while (!inside.empty() && inside.back() == 0)
      inside.pop_back();
    if (!inside.empty() && inside.back() == 23)
      content.insert(content.end(), inside.begin(), inside.end() - 1);
  }
};

void follow(script& from, stream& x) {
  constexpr std::uint8_t types[] = {23, 23, 23, 22, 21, 0, 20, 99};
  while (!from.over() && x.wire.size() < 200'000) {
    const auto what = from.byte();
    byte_array inside;
    switch (what % 5) {
      case 0: // Content of any size, maybe padded.
        inside.resize(from.number() % (record_bytes + 4));
        std::fill(inside.begin(), inside.end(),
                  static_cast<std::uint8_t>(what));
        inside.push_back(23);
        if (from.byte() % 4 == 0)
          inside.insert(inside.end(), from.number() % 1000, 0);
        x.append(inside);
        break;
      case 1: // A key update that is in order.
        x.append(
            {24, 0, 0, 1, static_cast<std::uint8_t>(what & 32 ? 1 : 0), 22});
        x.key.replace();
        break;
      case 2: // Anything at all, short.
        for (auto n = from.byte() % 12; n > 0; --n)
          inside.push_back(static_cast<std::uint8_t>(from.byte()));
        inside.push_back(types[from.byte() % 8]);
        inside.insert(inside.end(), from.byte() % 3, 0);
        x.append(inside);
        break;
      case 3: // A byte changed, of all so far.
        if (!x.wire.empty() && what & 128)
          x.wire[(from.number() << 8 | from.byte()) % x.wire.size()]
              ^= static_cast<std::uint8_t>(from.byte());
        break;
      default: // Bytes from nowhere.
        if (what & 128)
          for (auto n = from.byte() % 8; n > 0; --n)
            x.wire.push_back(static_cast<std::uint8_t>(from.byte()));
        break;
    }
  }
}

} // namespace

/// @returns How much content came out.
std::size_t fuzz_records(const std::uint8_t* data, std::size_t size) {
  script from{data, size};
  const auto cut = std::max<std::size_t>(from.number(), 1);
  const auto room = std::max<std::size_t>(from.number(), 1);
  const bool tickets = from.byte() % 2 == 0;
  stream x;
  follow(from, x);
  record_opener opener{tls_cipher::aes_128_gcm, {}, tickets};
  byte_array into(room);
  std::size_t out = 0;
  bool ended = false;
  for (std::size_t i = 0; i < x.wire.size(); i += cut) {
    // An exact copy, so that a sanitizer sees a read beyond the end.
    const byte_array piece(x.wire.data() + i,
                           x.wire.data() + std::min(i + cut, x.wire.size()));
    opener.feed(piece.data(), piece.size());
    for (;;) {
      const auto got = opener.read(into.data(), into.size());
      if (got.what != record_opener::verdict::content) {
        ended = ended || got.what != record_opener::verdict::more;
        break;
      }
      // Only what was sealed, in order, and nothing behind an end.
      if (ended || got.size == 0 || got.size > into.size()
          || out + got.size > x.content.size()
          || !std::equal(into.data(), into.data() + got.size,
                         x.content.data() + out))
        std::abort();
      out += got.size;
    }
  }
  return out;
}

#ifdef POTLUCK_FUZZ_RECORDS
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  fuzz_records(data, size);
  return 0;
}
#endif
