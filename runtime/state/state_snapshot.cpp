#include "runtime/state/state_snapshot.hpp"

#include <utility>
#include <vector>

#include "runtime/state/pieces.hpp"
#include "runtime/state/state_layout.hpp"

namespace potluck {

state_snapshot::state_snapshot(std::shared_ptr<const training_state> state)
    : state_(std::move(state)) {
  list_.available = true;
  list_.step = state_->step;
  list_.history_samples = state_->history_samples;
  list_.state = digest_of_state(*state_);
  list_.bytes = state_bytes(*state_);
  list_.piece_bytes = piece_bytes_for(list_.bytes);
  list_.recent = state_->recent;
  for (std::uint32_t i = 0; extent_of(list_, i).size > 0; ++i)
    list_.pieces.push_back(digest_of(piece(i)));
}

state_manifest state_snapshot::manifest(std::uint64_t token) const {
  auto result = list_;
  result.token = token;
  return result;
}

shared_bytes state_snapshot::piece(std::uint32_t index) const {
  const auto [offset, size] = extent_of(list_, index);
  if (size == 0)
    return {};
  // Without the header, which does not outlive this call.
  auto regions = state_regions<const training_state, const std::uint8_t>(
      nullptr, *state_);
  std::uint64_t start = state_header_bytes;
  for (std::size_t i = 1; i < regions.size(); ++i) {
    if (offset >= start && offset + size <= start + regions[i].size)
      return {state_, regions[i].data + (offset - start), size};
    start += regions[i].size;
  }
  auto copy = std::make_shared<std::vector<std::uint8_t>>(size);
  read_state_bytes(*state_, offset, copy->data(), size);
  return {copy, copy->data(), size};
}

} // namespace potluck
