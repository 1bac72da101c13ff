#include "runtime/averaging/round/mean_shelf.hpp"

#include <utility>

#include "runtime/averaging/chunk_audit.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

void mean_shelf::keep(std::uint32_t chunk,
                      std::shared_ptr<const std::vector<float>> values,
                      std::vector<digest> parts) {
  made_.emplace(chunk, std::move(values));
  seals_.emplace(chunk, digest_of(parts));
  parts_.emplace(chunk, std::move(parts));
}

void mean_shelf::keep_packed(std::uint32_t chunk, packing how,
                             const std::vector<float>& values,
                             std::vector<digest> parts, value_pool& rooms) {
  auto rounded = rooms.take(values.size());
  auto body
      = pack_and_round(how, values.data(), values.size(), rounded->data());
  body.sum = digest_of(body.data, body.size);
  packed_[chunk] = std::move(body);
  keep(chunk, std::move(rounded), std::move(parts));
}

shared_bytes mean_shelf::values(std::uint32_t chunk) const {
  const auto found = made_.find(chunk);
  if (found == made_.end())
    return {};
  const auto& x = found->second;
  return {x, reinterpret_cast<const std::uint8_t*>(x->data()),
          x->size() * sizeof(float)};
}

shared_bytes mean_shelf::packed(std::uint32_t chunk) const {
  const auto found = packed_.find(chunk);
  return found == packed_.end() ? shared_bytes{} : found->second;
}

std::vector<std::uint32_t> mean_shelf::chunks() const {
  std::vector<std::uint32_t> result;
  for (auto& [chunk, values] : made_)
    result.push_back(chunk);
  return result;
}

const std::vector<digest>* mean_shelf::parts(std::uint32_t chunk) const {
  const auto found = parts_.find(chunk);
  return found == parts_.end() ? nullptr : &found->second;
}

digest mean_shelf::seal(std::uint32_t chunk) const {
  const auto found = seals_.find(chunk);
  return found == seals_.end() ? digest{} : found->second;
}

} // namespace potluck
