/// A copy of a training state, for whoever sends or writes it while training
/// goes on.
///
/// Training stands still meanwhile, so in large pages: half of the time would
/// be the kernel's, which clears fresh memory page by page.
#pragma once

#include <memory>

#include "runtime/recycled_memory.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

inline std::shared_ptr<const training_state> copy_of(const training_state& x) {
  auto result = std::make_shared<training_state>();
  result->step = x.step;
  result->history_samples = x.history_samples;
  result->recent = x.recent;
  const auto copy = [](const std::vector<float>& from, std::vector<float>& to) {
    to.reserve(from.size());
    prefer_large_pages(to.data(), from.size() * sizeof(float));
    to = from;
  };
  copy(x.parameters, result->parameters);
  copy(x.first_moment, result->first_moment);
  copy(x.second_moment, result->second_moment);
  return result;
}

} // namespace potluck
