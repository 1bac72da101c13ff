/// Large blocks of memory that are used again, by the whole process.
///
/// Fresh memory has to be cleared page by page by the kernel: for the body of a
/// frame that costs more than to receive it. Thread-safe. Bounded by
/// `limits::recycled_bytes`; of more, what nobody wants goes to the C library.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace potluck::limits {

/// Memory that is kept to be used again: some calls' worth. The kernel clears
/// every page of fresh memory, which costs more than to copy a call.
constexpr std::size_t recycled_bytes = std::size_t{128} << 20;
/// Below it the C library uses its memory again by itself.
constexpr std::size_t recycled_least = 16 * 1024;

} // namespace potluck::limits

namespace potluck {

/// Alignment of every block: a cache line, and any vector register.
constexpr std::align_val_t block_alignment{64};

/// At least `bytes` bytes that are anything. Throws std::bad_alloc.
void* take_block(std::size_t bytes);
/// @param bytes As they were asked for.
void give_block(void* block, std::size_t bytes) noexcept;

/// Has the kernel back fresh memory with pages of 2 MiB where it does so only
/// when asked: one fault instead of 512. No effect on less than such a page.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

/// Bytes that wait to be used again.
std::size_t idle_blocks_bytes();
/// Gives all of them back to the C library.
void drop_idle_blocks();

/// A container's memory. Values that are not given are not initialized: that
/// would be one more pass over it.
template <class T>
struct recycling_allocator {
  using value_type = T;

  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) noexcept {
  }

  T* allocate(std::size_t count) {
    return static_cast<T*>(take_block(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    give_block(block, count * sizeof(T));
  }
  template <class U>
  void construct(U* where) noexcept {
    ::new (static_cast<void*>(where)) U;
  }
  template <class U, class... Args>
  void construct(U* where, Args&&... args) {
    ::new (static_cast<void*>(where)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(recycling_allocator, recycling_allocator) {
    return true;
  }
  friend bool operator!=(recycling_allocator, recycling_allocator) {
    return false;
  }
};

/// The values of a call, which may be many. `resize` leaves new ones anything.
using float_array = std::vector<float, recycling_allocator<float>>;
using byte_array
    = std::vector<unsigned char, recycling_allocator<unsigned char>>;

} // namespace potluck
