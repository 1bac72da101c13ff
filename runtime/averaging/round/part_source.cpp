#include "runtime/averaging/round/part_source.hpp"

#include "runtime/packing/packing.hpp"

namespace potluck {

part_source::part_source(const chunk_map& map, std::size_t self,
                         std::vector<packing> packings, packing usual)
    : map_{map}, self_{self}, packings_{std::move(packings)}, usual_{usual} {
}

std::vector<part_source::debt>
part_source::lend(std::shared_ptr<const std::vector<float>> gradient,
                  std::uint64_t samples) {
  gradient_ = std::move(gradient);
  samples_ = samples;
  if (!any())
    return {};
  auto result = order();
  result.insert(result.end(), owed_.begin(), owed_.end());
  owed_.clear();
  return result;
}

part_source::part part_source::whole(std::uint32_t chunk) const {
  return as(packing::float32, chunk);
}

part_source::part part_source::outgoing(std::uint32_t chunk) const {
  return as(map_.owner(chunk) == self_ ? packing::float32 : packing_of(self_),
            chunk);
}

part_source::part part_source::as(packing how, std::uint32_t chunk) const {
  const auto range = map_.range(chunk);
  return {{{}, chunk, samples_, how},
          packed_body(how, gradient_, gradient_->data() + range.offset,
                      range.count)};
}

std::vector<part_source::debt> part_source::order() const {
  std::vector<debt> result;
  const auto members = map_.member_count();
  for (std::uint32_t turn = 0; result.size() < map_.chunk_count(); ++turn)
    for (std::size_t hop = 1; hop <= members; ++hop) {
      const auto owner = (self_ + hop) % members;
      const auto chunks = map_.chunks_of(owner);
      if (turn < chunks.count)
        result.emplace_back(chunks.first + turn, owner);
    }
  return result;
}

} // namespace potluck
