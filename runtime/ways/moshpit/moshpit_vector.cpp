#include "runtime/ways/moshpit/moshpit_vector.hpp"

#include <algorithm>
#include <array>

#include "runtime/vector_loops.hpp"

namespace potluck {

void weigh_parameters(float* out, const float* parameters, std::size_t count,
                      std::uint64_t samples) {
  std::copy_n(parameters, count, out);
  scale(out, count, static_cast<float>(samples));
}

digest nominal_state(const digest& charter, std::uint64_t step) {
  std::array<std::uint8_t, digest::size + sizeof(step)> bytes{};
  std::copy(charter.bytes.begin(), charter.bytes.end(), bytes.begin());
  for (std::size_t i = 0; i < sizeof(step); ++i)
    bytes[digest::size + i] = static_cast<std::uint8_t>(step >> 8 * i);
  return digest_of(bytes.data(), bytes.size());
}

} // namespace potluck
