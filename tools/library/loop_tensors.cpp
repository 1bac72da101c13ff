#include "tools/library/loop_tensors.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "runtime/parallel_loop.hpp"
#include "runtime/vector_loops.hpp"
#include "tools/library/complaint.hpp"
#include "tools/library/without_signals.hpp"

namespace potluck::library {

template <class Value>
Value* loop_tensors::part(const tensors<Value>& of, std::size_t index) const {
  return of.flat ? of.flat + layout_.entries()[index].offset : of.each[index];
}

template <class Job>
void loop_tensors::for_each_piece(Job job) const {
  struct piece {
    std::size_t tensor, begin, size;
  };
  std::vector<piece> pieces;
  const auto& all = layout_.entries();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t begin = 0; begin < all[i].values; begin += piece_values)
      pieces.push_back(
          {i, begin, std::min(piece_values, all[i].values - begin)});
  const auto threads = threads_for(layout_.values(), threads_);
  std::optional<without_signals> unheard;
  if (threads > 1)
    unheard.emplace();
  for_each_index(pieces.size(), threads, [&](std::size_t i) {
    job(pieces[i].tensor, pieces[i].begin, pieces[i].size);
  });
}

void loop_tensors::add_to(float* sum, bool begins,
                          const tensors<const float>& gradients,
                          float weight) const {
  const auto& all = layout_.entries();
  std::vector<std::atomic<bool>> unfit(all.size());
  const auto refuse = [&] {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (unfit[i])
        throw complaint{"the gradient of tensor " + all[i].name
                            + " is not finite; leave this batch out",
                        POTLUCK_NOT_FINITE};
  };
  if (!begins) {
    for_each_piece([&](std::size_t i, std::size_t begin, std::size_t size) {
      if (auto* x = part(gradients, i); x && !all_finite(x + begin, size))
        unfit[i] = true;
    });
    refuse();
  }
  for_each_piece([&](std::size_t i, std::size_t begin, std::size_t size) {
    auto* to = sum + all[i].offset + begin;
    auto* x = part(gradients, i);
    if (!x && begins)
      std::fill_n(to, size, 0.0f);
    else if (x && !begins)
      add_scaled(to, x + begin, size, weight);
    else if (x
             && !begin_scaled(to, x + begin, size, weight,
                              writing_of(layout_.values())))
      unfit[i] = true;
  });
  refuse();
}

void loop_tensors::give(const float* values,
                        const tensors<float>& parameters) const {
  const auto& all = layout_.entries();
  for_each_piece([&](std::size_t i, std::size_t begin, std::size_t size) {
    if (auto* x = part(parameters, i))
      copy(x + begin, values + all[i].offset + begin, size,
           writing_of(layout_.values()));
  });
}

void loop_tensors::give_moments(const std::vector<float>& from,
                                float* const* to) const {
  const auto& all = layout_.entries();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (to && to[i] && from.empty())
      std::fill_n(to[i], all[i].values, 0.0f);
    else if (to && to[i])
      std::copy_n(from.data() + all[i].offset, all[i].values, to[i]);
  }
}

} // namespace potluck::library
