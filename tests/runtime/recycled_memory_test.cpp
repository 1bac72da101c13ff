#include "runtime/recycled_memory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>

using namespace potluck;

namespace {

constexpr std::size_t large = 1 << 20;

} // namespace

TEST_CASE("a large block is used again by whoever wants about as much") {
  drop_idle_blocks();
  auto* first = take_block(large);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  give_block(first, large);
  CHECK(idle_blocks_bytes() >= large);
  CHECK(idle_blocks_bytes() <= large + large / 4);
  auto* again = take_block(large - 100);
  CHECK(again == first);
  CHECK(idle_blocks_bytes() == 0);
  auto* other = take_block(large / 2); // Not of about the same size.
  CHECK(other != first);
  give_block(again, large - 100);
  give_block(other, large / 2);
  drop_idle_blocks();
  CHECK(idle_blocks_bytes() == 0);
}

TEST_CASE("small blocks are the C library's business, and none is none") {
  drop_idle_blocks();
  auto* x = take_block(limits::recycled_least - 1);
  give_block(x, limits::recycled_least - 1);
  give_block(nullptr, large);
  CHECK(idle_blocks_bytes() == 0);
}

TEST_CASE("no more waits to be used again than the limit allows") {
  drop_idle_blocks();
  std::vector<void*> blocks;
  const auto count = limits::recycled_bytes / large + 10;
  for (std::size_t i = 0; i < count; ++i)
    blocks.push_back(take_block(large));
  for (auto* x : blocks)
    give_block(x, large);
  CHECK(idle_blocks_bytes() <= limits::recycled_bytes);
  CHECK(idle_blocks_bytes() > limits::recycled_bytes - 2 * large);
  drop_idle_blocks();
}

TEST_CASE("sizes that nobody wants any more make room for others") {
  drop_idle_blocks();
  // Of two sizes in turn, so that the oldest is not simply the smallest.
  std::vector<std::pair<void*, std::size_t>> old;
  std::size_t total = 0;
  while (total < limits::recycled_bytes) {
    auto size = old.size() % 2 == 0 ? 3 * large : large;
    old.emplace_back(take_block(size), size);
    total += size;
  }
  for (auto [block, size] : old)
    give_block(block, size);
  const auto full = idle_blocks_bytes();
  const auto wanted = 10 * large;
  give_block(take_block(wanted), wanted);
  CHECK(idle_blocks_bytes() == full); // It is early to say what is not wanted.
  for (int i = 0; i < 2000; ++i)
    give_block(take_block(wanted), wanted);
  auto* recent = take_block(wanted);
  give_block(recent, wanted);
  CHECK(take_block(wanted) == recent);
  CHECK(idle_blocks_bytes() > limits::recycled_bytes - 2 * wanted);
  give_block(recent, wanted);
  CHECK(idle_blocks_bytes() <= limits::recycled_bytes);
  drop_idle_blocks();
}

TEST_CASE("a round number of values has room for a head before it") {
  drop_idle_blocks();
  auto* x = take_block(large + 64);
  give_block(x, large + 64);
  CHECK(idle_blocks_bytes() == large + 64);
  CHECK(take_block(large) == x);
  give_block(x, large);
  drop_idle_blocks();
}

TEST_CASE("a block that is larger than all that may wait is not kept") {
  drop_idle_blocks();
  auto* small = take_block(large);
  give_block(small, large);
  give_block(take_block(limits::recycled_bytes + large),
             limits::recycled_bytes + large);
  CHECK(idle_blocks_bytes() >= large); // Nothing had to go for it.
  CHECK(idle_blocks_bytes() < 2 * large);
  drop_idle_blocks();
}

TEST_CASE("any thread may give back what another one took") {
  drop_idle_blocks();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        float_array x;
        x.resize(large / sizeof(float));
        x.front() = x.back() = static_cast<float>(i);
        std::thread{[y = std::move(x), i] {
          CHECK(y.front() == static_cast<float>(i));
        }}.join();
      }
    });
  for (auto& x : threads)
    x.join();
  CHECK(idle_blocks_bytes() <= 4 * (large + large / 4));
  CHECK(idle_blocks_bytes() >= large);
  drop_idle_blocks();
}

TEST_CASE("an array holds what it is given, and grows like any other") {
  float_array x{1, 2, 3};
  CHECK(x == float_array{1, 2, 3});
  for (int i = 0; i < 100'000; ++i)
    x.push_back(static_cast<float>(i));
  CHECK(x[2] == 3);
  CHECK(x.back() == 99'999);
  CHECK(float_array(4, 1.5f) == float_array{1.5f, 1.5f, 1.5f, 1.5f});
}
