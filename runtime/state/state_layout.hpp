/// The state's bytes as regions of memory: private to runtime/state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "runtime/state/training_state.hpp"

namespace potluck {

// The vectors travel as they lie in memory.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "Potluck's files and frames hold little-endian floats");
static_assert(sizeof(float) == 4, "floats must be IEEE 754 binary32");

using state_header = std::array<std::uint8_t, state_header_bytes>;

state_header write_state_header(const training_state& state);

/// Moments of a state with this header; nothing when it is none.
std::optional<unsigned> moments_in(const state_header& header);

/// Makes room for so many values, and nothing else.
void resize(training_state& state, std::uint64_t values, unsigned moments);

/// Fills step and history; a sentence when the header is not one of a state of
/// `values` parameters, or of as many moments as `state` has.
expected<bool> read_state_header(const state_header& header,
                                 std::uint64_t values, training_state& state);

template <class Byte>
struct state_region {
  Byte* data;
  std::uint64_t size;
};

/// Header and vectors in the order of the state's bytes.
template <class State, class Byte>
std::array<state_region<Byte>, 4> state_regions(Byte* header, State& state) {
  auto region = [](auto& values) {
    return state_region<Byte>{reinterpret_cast<Byte*>(values.data()),
                              values.size() * sizeof(float)};
  };
  return {{{header, state_header_bytes},
           region(state.parameters),
           region(state.first_moment),
           region(state.second_moment)}};
}

/// Calls `visit(bytes, size)` for the stretches that make up `size` bytes from
/// `offset` on; false when the regions end earlier.
template <class Regions, class Visit>
bool visit_bytes(const Regions& regions, std::uint64_t offset,
                 std::uint64_t size, Visit visit) {
  for (const auto& region : regions) {
    if (offset >= region.size) {
      offset -= region.size;
      continue;
    }
    auto here = std::min<std::uint64_t>(size, region.size - offset);
    if (here > 0)
      visit(region.data + offset, static_cast<std::size_t>(here));
    size -= here;
    offset = 0;
  }
  return size == 0;
}

} // namespace potluck
