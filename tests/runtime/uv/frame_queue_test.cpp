#include "runtime/uv/frame_queue.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

using namespace potluck;

namespace {

constexpr frame_queue::bounds ample{1 << 20, 0};
constexpr std::size_t before_body = preamble_bytes + 1;

/// A head of one letter, and a body of as many as that.
outgoing_frame frame(char letter, std::size_t body = 0, bool urgent = false) {
  outgoing_frame x{{static_cast<std::uint8_t>(letter)}, {}, urgent};
  if (body > 0) {
    auto owner = std::make_shared<std::string>(body, letter);
    auto* bytes = reinterpret_cast<const std::uint8_t*>(owner->data());
    x.body = {std::move(owner), bytes, body};
  }
  return x;
}

std::string gather(frame_queue& x, std::size_t most) {
  std::vector<uv_buf_t> pieces;
  const auto bytes = x.gather(most, pieces);
  std::string all;
  for (const auto& piece : pieces)
    all.append(piece.base, piece.len);
  CHECK(all.size() == bytes);
  CHECK(bytes <= most);
  return all;
}

/// The heads' letters, in the order in which they would be sent.
std::string order(frame_queue& x) {
  const auto all = gather(x, 1 << 20);
  std::string letters;
  for (std::size_t i = 0; i < all.size();) {
    auto announced
        = read_preamble(reinterpret_cast<const std::uint8_t*>(&all[i]));
    REQUIRE(announced);
    letters += all[i + preamble_bytes];
    i += before_body + announced->body_size;
  }
  return letters;
}

} // namespace

TEST_CASE("frames leave in order, in whatever pieces") {
  std::string whole;
  for (std::size_t most : {1000, 1, 7, 20, 50}) {
    frame_queue x{ample, true};
    for (auto letter : {'a', 'b', 'c'})
      CHECK(x.push(frame(letter, letter == 'b' ? 100 : 0), true) == 0);
    CHECK(x.bytes() == 3 * before_body + 100);
    CHECK(x.front_rest() == before_body);
    std::string all;
    while (!x.empty()) {
      const auto part = gather(x, most);
      CHECK(gather(x, most) == part); // Nothing is gone before its release.
      x.release(part.size());
      all += part;
    }
    if (most == 1000)
      whole = all;
    CHECK(all == whole);
    CHECK(x.bytes() == 0);
  }
  frame_queue unchecked{ample, false};
  unchecked.push(frame('a'), true);
  CHECK(read_preamble(
            reinterpret_cast<const std::uint8_t*>(gather(unchecked, 30).data()))
            ->checksum
        == 0);
}

TEST_CASE("urgent frames overtake bodies, but no conversation") {
  frame_queue x{ample, true};
  x.push(frame('a'), true);
  x.push(frame('b', 100), true);
  x.push(frame('c', 100), true);
  x.push(frame('d', 0, true), true);
  CHECK(order(x) == "adbc");
  x.push(frame('e', 10, true), true);
  x.push(frame('f', 0, true), false); // A write refers to what is there.
  CHECK(order(x) == "adebcf");
}

TEST_CASE("what has begun is not overtaken") {
  frame_queue x{ample, true};
  x.push(frame('a', 100), true);
  x.push(frame('b', 100), true);
  x.release(1);
  x.push(frame('c', 0, true), true);
  x.release(x.front_rest());
  CHECK(order(x) == "cb");
}

TEST_CASE("a frame is released with its last byte") {
  frame_queue x{ample, true};
  auto first = frame('a', 100);
  const std::weak_ptr<const void> alive = first.body.owner;
  x.push(std::move(first), true);
  x.release(before_body + 99);
  CHECK_FALSE(alive.expired());
  x.release(1);
  CHECK(alive.expired());
  x.push(frame('b', 100), true);
  x.release(50);
  x.clear();
  CHECK(x.empty());
  CHECK(x.bytes() == 0);
  x.push(frame('c'), true);
  CHECK(order(x) == "c");
}

TEST_CASE("more than may wait is told, but for what lies in a few arrays") {
  frame_queue x{{1000, 1}, true};
  const auto array = frame('a', 500);
  for (int i = 0; i < 20; ++i)
    CHECK(x.push(array, true) == 0);
  CHECK(x.push(frame('b', 400), true) == 0);
  CHECK(x.push(frame('c', 400), true) > 1000);
  x.release(x.bytes());
  CHECK(x.push(frame('d', 900), true) == 0);
}

TEST_CASE("frames without a body are told apart in what waits") {
  frame_queue x{ample, true};
  x.push(frame('a'), true);
  const auto letter = x.letter_bytes();
  CHECK(letter > 0);
  CHECK(letter == x.own_bytes());
  x.push(frame('b', 100), true);
  CHECK(x.letter_bytes() == letter);
  CHECK(x.own_bytes() == 2 * letter);
  x.push(frame('c'), true);
  x.release(x.front_rest());
  CHECK(x.letter_bytes() == letter);
  x.release(x.front_rest());
  CHECK(x.letter_bytes() == letter);
  x.release(x.front_rest());
  CHECK(x.letter_bytes() == 0);
  x.push(frame('d'), true);
  x.clear();
  CHECK(x.letter_bytes() == 0);
}
