#include "runtime/averaging/gradient_assembly.hpp"

#include <utility>

namespace potluck {

gradient_assembly::gradient_assembly(chunk_map map, float* out)
    : map_{std::move(map)}, out_{out},
      here_(map_.chunk_count(), false), missing_{map_.chunk_count()} {
}

gradient_assembly::verdict gradient_assembly::place(std::uint32_t chunk,
                                                    const float* values,
                                                    std::size_t count) {
  digest sum;
  return place(chunk, packing::float32,
               {nullptr, reinterpret_cast<const std::uint8_t*>(values),
                count * sizeof(float)},
               sum);
}

gradient_assembly::verdict gradient_assembly::place(std::uint32_t chunk,
                                                    packing how,
                                                    const shared_bytes& body,
                                                    digest& sum) {
  if (chunk >= map_.chunk_count())
    return verdict::wrong_chunk;
  if (here_[chunk])
    return verdict::repeated;
  auto range = map_.range(chunk);
  if (body.size != packed_bytes(how, range.count))
    return verdict::wrong_length;
  auto made = unpack_in_place(how, body, out_ + range.offset, range.count,
                              writing_of(map_.gradient_values()));
  if (!made)
    return verdict::not_finite;
  sum = *made;
  return in_place(chunk);
}

gradient_assembly::verdict gradient_assembly::in_place(std::uint32_t chunk) {
  if (chunk >= map_.chunk_count())
    return verdict::wrong_chunk;
  if (here_[chunk])
    return verdict::repeated;
  here_[chunk] = true;
  return --missing_ == 0 ? verdict::complete : verdict::placed;
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
