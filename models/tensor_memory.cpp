#include "models/tensor_memory.hpp"

#include <cstring>
#include <mutex>

#include <c10/core/CPUAllocator.h>

#include "runtime/recycled_memory.hpp"

namespace potluck {

namespace {

/// Before the values: how many bytes the block has. As long as the values'
/// alignment.
constexpr auto head = static_cast<std::size_t>(block_alignment);

void give_back(void* values) {
  if (values == nullptr)
    return;
  auto* block = static_cast<unsigned char*>(values) - head;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  give_block(block, bytes);
}

/// Values are what LibTorch's own allocator leaves them: anything.
///
/// Which of these functions override one depends on LibTorch's version: since
/// 2.3 `allocate` is not const, and there is `copy_data`.
class recycling final : public c10::Allocator {
public:
  c10::DataPtr allocate(std::size_t wanted) const {
    return take(wanted);
  }
  c10::DataPtr allocate(std::size_t wanted) {
    return take(wanted);
  }

  void copy_data(void* to, const void* from, std::size_t count) const {
    std::memcpy(to, from, count);
  }

  c10::DeleterFnPtr raw_deleter() const override {
    return &give_back;
  }

private:
  static c10::DataPtr take(std::size_t wanted) {
    const c10::Device cpu{c10::DeviceType::CPU};
    if (wanted == 0)
      return {nullptr, nullptr, &give_back, cpu};
    const auto bytes = wanted + head;
    auto* block = static_cast<unsigned char*>(take_block(bytes));
    std::memcpy(block, &bytes, sizeof(bytes));
    return {block + head, block + head, &give_back, cpu};
  }
};

} // namespace

void recycle_tensor_memory() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Never destroyed: tensors may outlive every static object.
    static auto* allocator = new recycling;
    c10::SetCPUAllocator(allocator);
  });
}

} // namespace potluck
