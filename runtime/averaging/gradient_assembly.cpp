#include "runtime/averaging/gradient_assembly.hpp"

#include <utility>

#include "runtime/averaging/vector_loops.hpp"

namespace potluck {

gradient_assembly::gradient_assembly(chunk_map map, float* out)
    : map_{std::move(map)}, out_{out},
      here_(map_.chunk_count(), false), missing_{map_.chunk_count()} {
}

gradient_assembly::verdict gradient_assembly::place(std::uint32_t chunk,
                                                    const float* values,
                                                    std::size_t count) {
  if (chunk >= map_.chunk_count())
    return verdict::wrong_chunk;
  if (here_[chunk])
    return verdict::repeated;
  auto range = map_.range(chunk);
  if (count != range.count)
    return verdict::wrong_length;
  if (!copy_finite(out_ + range.offset, values, count))
    return verdict::not_finite;
  return arrived(chunk);
}

gradient_assembly::verdict gradient_assembly::arrived(std::uint32_t chunk) {
  here_[chunk] = true;
  return --missing_ == 0 ? verdict::complete : verdict::placed;
}

gradient_assembly::verdict gradient_assembly::place(std::uint32_t chunk,
                                                    packing how,
                                                    const std::uint8_t* body,
                                                    std::size_t size) {
  if (how == packing::float32)
    return place(chunk, reinterpret_cast<const float*>(body),
                 size / sizeof(float));
  if (chunk >= map_.chunk_count())
    return verdict::wrong_chunk;
  if (here_[chunk])
    return verdict::repeated;
  auto range = map_.range(chunk);
  if (size != packed_bytes(how, range.count))
    return verdict::wrong_length;
  if (!unpack(how, body, size, out_ + range.offset, range.count))
    return verdict::not_finite;
  return arrived(chunk);
}

std::vector<std::uint32_t> gradient_assembly::missing() const {
  std::vector<std::uint32_t> result;
  result.reserve(missing_);
  for (std::uint32_t i = 0; i < here_.size(); ++i)
    if (!here_[i])
      result.push_back(i);
  return result;
}

void gradient_assembly::forget(std::uint32_t chunk) {
  missing_ += here_.at(chunk);
  here_[chunk] = false;
}

} // namespace potluck
