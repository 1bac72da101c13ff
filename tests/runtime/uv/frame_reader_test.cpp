#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "runtime/uv/frame_reader.hpp"

using namespace potluck;

namespace {

using bytes = std::vector<std::uint8_t>;

bytes pattern(std::size_t size, std::uint8_t seed) {
  bytes x(size);
  for (std::size_t i = 0; i < size; ++i)
    x[i] = static_cast<std::uint8_t>(seed + i * 31);
  return x;
}

void append_frame(bytes& to, const bytes& head, const bytes& body) {
  auto preamble = write_preamble(
      preamble_for(head.data(), head.size(), body.data(), body.size()));
  to.insert(to.end(), preamble.begin(), preamble.end());
  to.insert(to.end(), head.begin(), head.end());
  to.insert(to.end(), body.begin(), body.end());
}

/// Reads `stream` as a socket would: into `direct()` when there is room, fed
/// otherwise, in portions that `portion` chooses.
template <class Portion>
std::vector<frame_reader::frame>
read_all(frame_reader& reader, const bytes& stream, Portion portion) {
  std::vector<frame_reader::frame> result;
  std::size_t at = 0;
  while (at < stream.size()) {
    auto size = std::min<std::size_t>(portion(), stream.size() - at);
    auto room = reader.direct();
    if (room.size > 0) {
      size = std::min(size, room.size);
      std::memcpy(room.data, stream.data() + at, size);
      REQUIRE(reader.filled(size));
    } else {
      auto taken = reader.feed(stream.data() + at, size);
      REQUIRE(taken);
      CHECK((*taken == size || reader.complete()));
      size = *taken;
    }
    at += size;
    if (reader.complete())
      result.push_back(reader.take());
  }
  return result;
}

} // namespace

TEST_CASE("however a stream is cut, the same frames come out") {
  std::mt19937 random{5};
  bytes stream;
  std::vector<std::size_t> sizes{0, 1, 99, 100, 101, 5000, 0, 3};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    append_frame(stream, pattern(i + 1, 3),
                 pattern(sizes[i], static_cast<std::uint8_t>(i)));
  for (std::size_t most : {1, 2, 19, 20, 21, 100, 4096, 100000}) {
    CAPTURE(most);
    frame_reader reader{100};
    auto frames = read_all(reader, stream, [&] { return 1 + random() % most; });
    REQUIRE(frames.size() == sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      CHECK(frames[i].head == pattern(i + 1, 3));
      auto& x = frames[i];
      CHECK(bytes(x.body.get(), x.body.get() + x.body_size)
            == pattern(sizes[i], static_cast<std::uint8_t>(i)));
      CHECK(reinterpret_cast<std::uintptr_t>(x.body.get()) % 64 == 0);
    }
    CHECK(reader.between_frames());
  }
}

TEST_CASE("a reader knows when the stream ends within a frame") {
  bytes stream;
  append_frame(stream, pattern(4, 1), pattern(8, 2));
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    frame_reader reader;
    bytes part(stream.begin(),
               stream.begin() + static_cast<std::ptrdiff_t>(size));
    auto frames = read_all(reader, part, [] { return 1000; });
    CHECK(frames.size() == (size == stream.size() ? 1u : 0u));
    CHECK(reader.between_frames() == (size == 0 || size == stream.size()));
  }
}

TEST_CASE("only bulky bodies are read into directly") {
  for (std::size_t size : {99u, 100u}) {
    bytes stream;
    append_frame(stream, pattern(4, 1), pattern(size, 2));
    frame_reader reader{100};
    REQUIRE(reader.feed(stream.data(), preamble_bytes + 4 + 60));
    CHECK(reader.bulky() == (size == 100));
    CHECK(reader.direct().size == (size == 100 ? 40u : 0u));
  }
}

TEST_CASE("what is no frame is refused once its preamble is complete") {
  auto refused = [](std::uint32_t head, std::uint32_t body, bool magic) {
    auto preamble = write_preamble({head, body, 0});
    if (!magic)
      preamble[0] = 'X';
    frame_reader reader;
    CHECK(reader.feed(preamble.data(), preamble_bytes - 1));
    return !reader.feed(preamble.data() + preamble_bytes - 1, 1);
  };
  CHECK(refused(0, 0, true));
  CHECK(refused(max_head_bytes + 1, 0, true));
  CHECK(refused(1, max_body_bytes + 1, true));
  CHECK(refused(1, 0, false));
  CHECK_FALSE(refused(1, 0, true));
}

TEST_CASE("a flipped bit anywhere in a frame lets none of it through") {
  bytes stream;
  append_frame(stream, pattern(7, 1), pattern(120, 2));
  for (std::size_t direct : {100u, 1000u})
    for (std::size_t bit = 0; bit < stream.size() * 8; ++bit) {
      CAPTURE(bit);
      auto damaged = stream;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      frame_reader reader{direct};
      std::size_t at = 0;
      auto refused = false;
      while (at < damaged.size() && !refused) {
        auto room = reader.direct();
        auto size = std::min<std::size_t>(13, damaged.size() - at);
        if (room.size > 0) {
          size = std::min(size, room.size);
          std::memcpy(room.data, damaged.data() + at, size);
          refused = !reader.filled(size);
        } else if (auto taken = reader.feed(damaged.data() + at, size)) {
          size = *taken;
        } else {
          refused = true;
        }
        at += size;
        REQUIRE_FALSE(reader.complete());
      }
      // Damage to a size may still wait for bytes that never come.
      CHECK((refused || !reader.between_frames()));
      if (bit >= 12 * 8)
        CHECK(reader.corrupt());
    }
}

TEST_CASE("a body that is spared takes memory when it has room, and the same "
          "frame comes out") {
  std::mt19937 random{7};
  const auto head = pattern(100, 1), body = pattern(200'000, 2),
             small = pattern(999, 3);
  bytes stream;
  append_frame(stream, head, body);
  append_frame(stream, head, small);
  append_frame(stream, head, body);
  for (int trial = 0; trial < 50; ++trial) {
    frame_reader reader{64 * 1024, true};
    reader.spare(1000);
    std::size_t portion = 1 + random() % 60'000;
    std::size_t held = random() % 300'000; // Bytes before there is room.
    std::vector<frame_reader::frame> all;
    for (std::size_t at = 0; at < stream.size();) {
      auto size = std::min(portion, stream.size() - at);
      const auto room = reader.direct();
      if (room.size > 0) {
        size = std::min(size, room.size);
        std::memcpy(room.data, stream.data() + at, size);
        REQUIRE(reader.filled(size));
      } else {
        const auto taken = reader.feed(stream.data() + at, size);
        REQUIRE(taken);
        size = *taken;
      }
      at += size;
      if (reader.complete()) {
        all.push_back(reader.take());
        continue;
      }
      if (reader.begun() > 1000) {
        CHECK(reader.begun() == head.size() + body.size());
        if (at > held)
          reader.make_room();
        else
          CHECK(reader.direct().size == 0);
      }
    }
    REQUIRE(all.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& expected = i == 1 ? small : body;
      CHECK(all[i].head == head);
      REQUIRE(all[i].body_size == expected.size());
      CHECK(std::equal(expected.begin(), expected.end(), all[i].body.get()));
    }
  }
}

TEST_CASE("a head takes memory as it comes") {
  frame_reader reader;
  const auto announced = write_preamble({max_head_bytes, 0, 0});
  REQUIRE(reader.feed(announced.data(), announced.size()));
  const auto beginning = pattern(1000, 1);
  REQUIRE(reader.feed(beginning.data(), beginning.size()));
  CHECK(reader.begun() == max_head_bytes);
  CHECK(reader.head_memory() < 64 * 1024);
}
