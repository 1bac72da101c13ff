/// A libFuzzer target: a stream of bytes through framing and decoding.
///
///     clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined ...
///
/// The first byte says how the stream is cut into reads. Without libFuzzer,
/// decode_fuzz_test.cpp drives the same function.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "messages/codec.hpp"
#include "runtime/uv/frame_reader.hpp"

using namespace potluck;

namespace {

/// What is accepted must be acceptable again, and mean the same.
void check_frame(const frame_reader::frame& x) {
  auto first = decode(x.head.data(), x.head.size(), x.body_size);
  if (!first)
    return;
  auto head = encode(*first);
  auto second = decode(head.data(), head.size(), x.body_size);
  if (!second || encode(*second) != head)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0)
    return 0;
  std::size_t portion = data[0] == 0 ? size : data[0];
  ++data;
  --size;
  decode(data, size, 0); // Without a frame around it, too.
  auto report
      = decode_progress(std::string(reinterpret_cast<const char*>(data), size));
  if (report && !decode_progress(encode_progress(*report)))
    std::abort();

  frame_reader reader{256};
  while (size > 0) {
    auto part = std::min(portion, size);
    auto room = reader.direct();
    if (room.size > 0) {
      part = std::min(part, room.size);
      std::memcpy(room.data, data, part);
      if (!reader.filled(part))
        return 0;
    } else {
      auto taken = reader.feed(data, part);
      if (!taken)
        return 0;
      part = *taken;
    }
    data += part;
    size -= part;
    if (reader.complete())
      check_frame(reader.take());
  }
  return 0;
}
