#include "runtime/packing/top_values.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

using place = std::uint16_t;

constexpr std::size_t most_kept = kept_values(packing_block);

/// Calls `each(first value, values, kept values, bytes)` for every block, until
/// it returns false.
template <class Byte, class Each>
bool for_blocks(std::size_t count, Byte* bytes, const Each& each) {
  for (std::size_t first = 0; first < count; first += packing_block) {
    auto size = std::min(packing_block, count - first);
    auto kept = kept_values(size);
    if (!each(first, size, kept, bytes))
      return false;
    bytes += packed_bytes(packing::topk, size);
  }
  return true;
}

using magnitudes = std::array<std::uint32_t, packing_block>;

/// The `kept`th largest of them.
std::uint32_t least_of_largest(const magnitudes& bits, std::size_t size,
                               std::size_t kept) {
  // Eight drawers an octave, so that few are left to be sorted.
  constexpr std::uint32_t last = 255;
  const auto largest = *std::max_element(bits.begin(), bits.begin() + size);
  auto drawer_of
      = [&](std::uint32_t x) { return std::min((largest - x) >> 20, last); };
  std::array<std::uint16_t, last + 1> counts{};
  for (std::size_t i = 0; i < size; ++i)
    ++counts[drawer_of(bits[i])];
  std::uint32_t drawer = 0;
  auto before = std::size_t{0};
  while (before + counts[drawer] < kept)
    before += counts[drawer++];
  // Written always and kept if it counts: nothing to guess for the processor.
  std::array<std::uint32_t, packing_block + 1> candidates;
  auto end = candidates.begin();
  for (std::size_t i = 0; i < size; ++i) {
    *end = bits[i];
    end += drawer_of(bits[i]) == drawer;
  }
  auto wanted
      = candidates.begin() + static_cast<std::ptrdiff_t>(kept - before - 1);
  std::nth_element(candidates.begin(), wanted, end, std::greater<>{});
  return *wanted;
}

/// The places of the `kept` largest magnitudes, ascending. Of equal ones the
/// first are taken.
void find_largest(const float* values, std::size_t size, std::size_t kept,
                  place* out) {
  // The bits of magnitudes are in their order.
  magnitudes bits;
  std::memcpy(bits.data(), values, size * sizeof(float));
  for (std::size_t i = 0; i < size; ++i)
    bits[i] &= 0x7fffffffu;
  const auto least = least_of_largest(bits, size, kept);
  auto room = kept; // For those that are just as large as the least.
  for (std::size_t i = 0; i < size; ++i)
    room -= bits[i] > least;
  for (std::size_t i = 0; i < size; ++i)
    if (bits[i] > least || (bits[i] == least && room > 0)) {
      room -= bits[i] == least;
      *out++ = static_cast<place>(i);
    }
}

} // namespace

void pack_top_values(const float* values, std::size_t count,
                     std::uint8_t* out) {
  std::array<place, most_kept> places;
  std::array<float, most_kept> largest;
  for_blocks(count, out,
             [&](std::size_t first, std::size_t size, std::size_t kept,
                 std::uint8_t* bytes) {
               find_largest(values + first, size, kept, places.data());
               for (std::size_t i = 0; i < kept; ++i)
                 largest[i] = values[first + places[i]];
               std::memcpy(bytes, places.data(), kept * sizeof(place));
               pack(packing::int8, largest.data(), kept,
                    bytes + kept * sizeof(place));
               return true;
             });
}

bool unpack_top_values(const std::uint8_t* bytes, float* out,
                       std::size_t count) {
  std::array<place, most_kept> places;
  std::array<float, most_kept> largest;
  std::fill(out, out + count, 0.0f);
  return for_blocks(
      count, bytes,
      [&](std::size_t first, std::size_t size, std::size_t kept,
          const std::uint8_t* block) {
        std::memcpy(places.data(), block, kept * sizeof(place));
        if (!unpack(packing::int8, block + kept * sizeof(place),
                    packed_bytes(packing::int8, kept), largest.data(), kept))
          return false;
        for (std::size_t i = 0; i < kept; ++i) {
          if (places[i] >= size || (i > 0 && places[i] <= places[i - 1]))
            return false;
          out[first + places[i]] = largest[i];
        }
        return true;
      });
}

} // namespace potluck
