#include "runtime/averaging/round/mean_places.hpp"

#include <utility>

#include "runtime/packing/packing.hpp"

namespace potluck {

mean_places::mean_places(const chunk_map& map,
                         std::shared_ptr<std::vector<float>> whole)
    : map_{map}, whole_{std::move(whole)}, open_(map.chunk_count(), false) {
}

void mean_places::open(std::size_t self, std::size_t least_bytes) {
  std::lock_guard<std::mutex> guard{mutex_};
  for (std::uint32_t chunk = 0; chunk < map_.chunk_count(); ++chunk) {
    if (map_.owner(chunk) == self || open_[chunk]
        || map_.range(chunk).count * sizeof(float) < least_bytes)
      continue;
    open_[chunk] = true;
    ++open_count_;
  }
}

mean_places::verdict mean_places::take(std::size_t member,
                                       const chunk_mean& head,
                                       const shared_bytes& body) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (head.chunk >= open_.size() || !open_[head.chunk] || head.version != 1
      || map_.owner(head.chunk) != member)
    return verdict::not_open;
  return write(head.chunk, head.packing, body);
}

mean_places::verdict mean_places::place(std::uint32_t chunk, packing how,
                                        const shared_bytes& body) {
  std::lock_guard<std::mutex> guard{mutex_};
  return chunk < open_.size() ? write(chunk, how, body) : verdict::not_open;
}

mean_places::verdict mean_places::write(std::uint32_t chunk, packing how,
                                        const shared_bytes& body) {
  const auto range = map_.range(chunk);
  if (body.size != packed_bytes(how, range.count))
    return verdict::wrong_length;
  shut(chunk);
  digests_.erase(chunk);
  auto sum = unpack_in_place(how, body, whole_->data() + range.offset,
                             range.count, writing_of(whole_->size()));
  if (!sum)
    return verdict::not_finite;
  digests_[chunk] = *sum;
  return verdict::placed;
}

void mean_places::shut(std::uint32_t chunk) {
  open_count_ -= open_[chunk];
  open_[chunk] = false;
}

void mean_places::close() {
  std::lock_guard<std::mutex> guard{mutex_};
  for (std::uint32_t chunk = 0; chunk < open_.size(); ++chunk)
    shut(chunk);
}

bool mean_places::none_open() const {
  std::lock_guard<std::mutex> guard{mutex_};
  return open_count_ == 0;
}

shared_bytes mean_places::bytes(std::uint32_t chunk) const {
  const auto range = map_.range(chunk);
  std::lock_guard<std::mutex> guard{mutex_};
  const auto sum = digests_.find(chunk);
  return {whole_,
          reinterpret_cast<const std::uint8_t*>(whole_->data() + range.offset),
          range.count * sizeof(float),
          sum == digests_.end() ? digest{} : sum->second};
}

digest mean_places::whole_digest() {
  std::lock_guard<std::mutex> guard{mutex_};
  std::vector<digest> all;
  for (std::uint32_t chunk = 0; chunk < map_.chunk_count(); ++chunk) {
    const auto range = map_.range(chunk);
    auto [known, fresh] = digests_.try_emplace(chunk);
    if (fresh)
      known->second = digest_of(whole_->data() + range.offset,
                                range.count * sizeof(float));
    all.push_back(known->second);
  }
  return digest_of(all.data(), all.size() * sizeof(digest));
}

} // namespace potluck
