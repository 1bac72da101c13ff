/// A copy of a training state, for whoever changes it while others still send
/// or write it as it was.
///
/// Training stands still meanwhile, so on several threads and in large pages:
/// most of the time is the kernel's, which clears fresh memory page by page.
#pragma once

#include <memory>

#include "runtime/parallel_loop.hpp"
#include "runtime/recycled_memory.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

inline std::shared_ptr<training_state> copy_of(const training_state& x,
                                               unsigned threads) {
  auto result = std::make_shared<training_state>();
  result->step = x.step;
  result->history_samples = x.history_samples;
  result->recent = x.recent;
  const std::vector<float>* const from[]
      = {&x.parameters, &x.first_moment, &x.second_moment};
  std::vector<float>* const to[]
      = {&result->parameters, &result->first_moment, &result->second_moment};
  for (std::size_t i = 0; i < 3; ++i) {
    to[i]->reserve(from[i]->size());
    prefer_large_pages(to[i]->data(), from[i]->size() * sizeof(float));
  }
  for_each_index(3, threads_for(x.parameters.size(), threads),
                 [&](std::size_t i) { *to[i] = *from[i]; });
  return result;
}

} // namespace potluck
