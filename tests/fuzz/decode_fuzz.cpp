/// A stream of bytes through framing and decoding; and as what a record holds,
/// or an address.
///
/// The first byte says how the stream is cut into reads, and whether its frames
/// have checksums (an even one) or none, as below TLS. tools/fuzz runs it with
/// libFuzzer, decode_fuzz_test.cpp without.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "messages/codec.hpp"
#include "runtime/uv/frame_reader.hpp"

using namespace potluck;

namespace {

/// What is accepted must be acceptable again, and mean the same.
/// @returns Whether it was accepted.
bool check_frame(const frame_reader::frame& x) {
  auto first = decode(x.head.data(), x.head.size(), x.body_size);
  if (!first)
    return false;
  auto head = encode(*first);
  auto second = decode(head.data(), head.size(), x.body_size);
  if (!second || encode(*second) != head)
    std::abort();
  return true;
}

/// The same of what a record holds.
template <class Decode, class Encode>
void check_value(const std::string& text, Decode decode, Encode encode) {
  const auto first = decode(text);
  if (!first)
    return;
  const auto written = encode(*first);
  const auto second = decode(written);
  if (!second || encode(*second) != written)
    std::abort();
}

} // namespace

/// @returns How many frames were accepted.
std::size_t fuzz_decode(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const bool checked = data[0] % 2 == 0;
  const std::size_t portion = data[0] < 2 ? size : data[0];
  ++data;
  --size;
  decode(data, size, 0); // Without a frame around it, too.
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_value(text, decode_progress, encode_progress);
  check_value(text, decode_announcement, encode_announcement);
  check_value(text, decode_notice, encode_notice);
  if (const auto where = parse_address(text)) {
    const auto again = parse_address(to_string(*where));
    if (!again || *again != *where)
      std::abort();
  }

  std::size_t accepted = 0;
  frame_reader reader{256, checked};
  while (size > 0) {
    auto part = std::min(portion, size);
    auto room = reader.direct();
    if (room.size > 0) {
      part = std::min(part, room.size);
      std::memcpy(room.data, data, part);
      if (!reader.filled(part))
        return accepted;
    } else {
      auto taken = reader.feed(data, part);
      if (!taken)
        return accepted;
      part = *taken;
    }
    data += part;
    size -= part;
    if (reader.complete())
      accepted += check_frame(reader.take());
  }
  return accepted;
}
