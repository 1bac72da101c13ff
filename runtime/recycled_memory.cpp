#include "runtime/recycled_memory.hpp"

#include <map>
#include <mutex>

#include "runtime/config.hpp"

namespace potluck {

namespace {

/// A fifth of a block is unused at most, so that blocks of about one size are
/// of use to each other.
std::size_t size_class(std::size_t bytes) {
  std::size_t step = limits::recycled_least / 4;
  while (bytes > 8 * step)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

struct shelf {
  std::mutex mutex;
  std::multimap<std::size_t, void*> blocks; ///< By their size.
  std::size_t idle = 0;
};

/// Never destroyed: other static objects may own blocks.
shelf& the_shelf() {
  static auto* result = new shelf;
  return *result;
}

void release(void* block) noexcept {
  ::operator delete(block, block_alignment);
}

} // namespace

void* take_block(std::size_t bytes) {
  if (bytes < limits::recycled_least)
    return ::operator new(bytes, block_alignment);
  const auto size = size_class(bytes);
  {
    auto& x = the_shelf();
    std::lock_guard<std::mutex> guard{x.mutex};
    // The one given last: it may still be in a cache.
    if (auto found = x.blocks.upper_bound(size);
        found != x.blocks.begin() && (--found)->first == size) {
      auto* block = found->second;
      x.blocks.erase(found);
      x.idle -= size;
      return block;
    }
  }
  return ::operator new(size, block_alignment);
}

void give_block(void* block, std::size_t bytes) noexcept {
  if (block == nullptr)
    return;
  if (bytes >= limits::recycled_least) {
    const auto size = size_class(bytes);
    auto& x = the_shelf();
    std::lock_guard<std::mutex> guard{x.mutex};
    if (x.idle + size <= limits::recycled_bytes) {
      try {
        x.blocks.emplace(size, block);
        x.idle += size;
        return;
      } catch (const std::bad_alloc&) {
        // Then the C library gets it, which is what it wants.
      }
    }
  }
  release(block);
}

std::size_t idle_blocks_bytes() {
  auto& x = the_shelf();
  std::lock_guard<std::mutex> guard{x.mutex};
  return x.idle;
}

void drop_idle_blocks() {
  auto& x = the_shelf();
  std::multimap<std::size_t, void*> all;
  {
    std::lock_guard<std::mutex> guard{x.mutex};
    all.swap(x.blocks);
    x.idle = 0;
  }
  for (auto& [size, block] : all)
    release(block);
}

} // namespace potluck
