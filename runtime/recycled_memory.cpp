#include "runtime/recycled_memory.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <mutex>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace potluck {

namespace {

/// More than a round number: what stands before a round number of values.
constexpr auto extra = static_cast<std::size_t>(block_alignment);

/// A fifth of a block is unused at most, so that blocks of about one size are
/// of use to each other.
std::size_t size_class(std::size_t bytes) {
  std::size_t step = limits::recycled_least / 4;
  while (bytes > 8 * step + extra)
    step *= 2;
  return (bytes - extra + step - 1) / step * step + extra;
}

/// A block that was not wanted while so many others were given back, passes of
/// many networks, is of a size that nobody wants any more. (Sooner would be
/// wrong: of blocks that are wanted in turn, and do not all find room, the
/// oldest is the one that is wanted next.)
constexpr std::uint64_t too_long = 1024;

struct idle_block {
  void* block = nullptr;
  std::size_t size = 0;
  std::uint64_t since = 0; ///< Blocks given back before it.
};

using block_list = std::list<idle_block>;

/// Of one size, the one that waits longest stands first, in both.
struct shelf {
  std::mutex mutex;
  block_list blocks;
  std::multimap<std::size_t, block_list::iterator> by_size;
  std::size_t idle = 0;
  std::uint64_t given = 0; ///< So far.

  /// A block that was used a moment ago, if there is one: some of it may still
  /// be in a cache. Null for none.
  void* take(std::size_t size) {
    auto which = by_size.upper_bound(size);
    if (which == by_size.begin() || (--which)->first != size)
      return nullptr;
    auto* result = which->second->block;
    blocks.erase(which->second);
    by_size.erase(which);
    idle -= size;
    return result;
  }

  void move_oldest(block_list& to) {
    idle -= blocks.front().size;
    by_size.erase(by_size.lower_bound(blocks.front().size));
    to.splice(to.end(), blocks, blocks.begin());
  }

  /// Throws std::bad_alloc, and then has not got it.
  void put(block_list& one) {
    by_size.emplace(one.front().size, one.begin());
    idle += one.front().size;
    blocks.splice(blocks.end(), one);
  }
};

/// Never destroyed: other static objects may own blocks.
shelf& the_shelf() {
  static auto* result = new shelf;
  return *result;
}

void release(void* block) noexcept {
  ::operator delete(block, block_alignment);
}

/// What finds no room goes to `surplus`: older ones, or the block itself.
void keep(block_list& given, block_list& surplus) {
  const auto size = given.front().size;
  auto& x = the_shelf();
  std::lock_guard<std::mutex> guard{x.mutex};
  given.front().since = x.given++;
  while (x.idle + size > limits::recycled_bytes
         && x.blocks.front().since + too_long < x.given)
    x.move_oldest(surplus);
  if (x.idle + size > limits::recycled_bytes)
    surplus.splice(surplus.end(), given);
  else
    x.put(given);
}

} // namespace

void* take_block(std::size_t bytes) {
  if (bytes < limits::recycled_least)
    return ::operator new(bytes, block_alignment);
  const auto size = size_class(bytes);
  {
    auto& x = the_shelf();
    std::lock_guard<std::mutex> guard{x.mutex};
    if (auto* found = x.take(size))
      return found;
  }
  auto* fresh = ::operator new(size, block_alignment);
  prefer_large_pages(fresh, size);
  return fresh;
}

void prefer_large_pages(void* memory, std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = 2 << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto first = (begin + page - 1) / page * page;
  const auto last = (begin + bytes) / page * page;
  if (first < last)
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

void give_block(void* block, std::size_t bytes) noexcept {
  if (block == nullptr)
    return;
  if (bytes >= limits::recycled_least
      && size_class(bytes) <= limits::recycled_bytes) {
    try {
      block_list surplus; // Released without the lock: that takes a while.
      block_list given{{block, size_class(bytes), 0}};
      try {
        keep(given, surplus);
        block = nullptr;
      } catch (const std::bad_alloc&) {
        // Then the C library gets it, which is what it wants.
      }
      for (auto& x : surplus)
        release(x.block);
    } catch (const std::bad_alloc&) {
      // The same.
    }
  }
  if (block != nullptr)
    release(block);
}

std::size_t idle_blocks_bytes() {
  auto& x = the_shelf();
  std::lock_guard<std::mutex> guard{x.mutex};
  return x.idle;
}

void drop_idle_blocks() {
  auto& x = the_shelf();
  block_list all;
  {
    std::lock_guard<std::mutex> guard{x.mutex};
    all.swap(x.blocks);
    x.by_size.clear();
    x.idle = 0;
  }
  for (auto& old : all)
    release(old.block);
}

} // namespace potluck
