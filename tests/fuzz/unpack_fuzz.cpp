/// Packed values of a gradient, as any peer may send them.
///
/// The first byte says how they are packed, the next two how many they are to
/// be. tools/fuzz runs it with libFuzzer, unpack_fuzz_test.cpp without.
#include <cstdlib>
#include <vector>

#include "runtime/packing/packing.hpp"

using namespace potluck;

/// @returns How many values came out.
std::size_t fuzz_unpack(const std::uint8_t* data, std::size_t size) {
  if (size < 3)
    return 0;
  constexpr packing ways[]
      = {packing::float32, packing::float16, packing::bfloat16, packing::int8};
  const auto how = ways[data[0] % 4];
  const std::size_t count = (data[1] << 8 | data[2]) % 5000;
  // Exact copies, so that a sanitizer sees a read or a write beyond the end.
  const std::vector<std::uint8_t> body(data + 3, data + size);
  std::vector<float> out(count);
  const auto within
      = surely_within(how, body.data(), body.size(), count, 1e30f);
  if (!unpack(how, body.data(), body.size(), out.data(), count))
    return 0;
  if (!all_finite(out.data(), count))
    std::abort();
  if (within) {
    std::vector<float> sum(count);
    add_unpacked(how, {body.data()}, sum.data(), sum.data(), count);
    for (std::size_t i = 0; i < count; ++i)
      if (sum[i] != out[i] || std::abs(out[i]) > 1e30f)
        std::abort();
  }
  // What was unpacked can be sent on.
  std::vector<std::uint8_t> again(packed_bytes(how, count));
  pack(how, out.data(), count, again.data());
  if (!unpack(how, again.data(), again.size(), out.data(), count))
    std::abort();
  return count;
}
