/// A loop over independent pieces of work, on several threads that end with it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace potluck {

/// Calls `work(i)` for every i below `count`, on up to `threads` threads, the
/// caller's among them: neighbours on the same one, in order. `work` must not
/// throw.
template <class Work>
void for_each_index(std::size_t count, unsigned threads, const Work& work) {
  const auto workers = std::min<std::size_t>(threads, count);
  const auto share = [&](std::size_t worker) {
    const auto end = count * (worker + 1) / workers;
    for (std::size_t i = count * worker / workers; i < end; ++i)
      work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t worker = 1; worker < workers; ++worker)
    others.emplace_back(share, worker);
  if (workers > 0)
    share(0);
  for (auto& x : others)
    x.join();
}

/// Calls `work(stage, i)` for every i below `count(stage)` of every stage, in
/// the stages' order: none begins before the one before has ended. Of a stage
/// whoever is free takes the next. `work` must not throw.
template <class Count, class Work>
void for_each_stage(std::size_t stages, unsigned threads, const Count& count,
                    const Work& work) {
  std::vector<std::atomic<std::size_t>> next(stages), done(stages);
  const auto go = [&](std::size_t) {
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const auto all = count(stage);
      for (auto i = next[stage]++; i < all; i = next[stage]++) {
        work(stage, i);
        ++done[stage];
      }
      while (done[stage] < all)
        std::this_thread::yield();
    }
  };
  for_each_index(threads, threads, go);
}

/// Values that a thread has in hand at a time, side by side in memory.
constexpr std::size_t piece_values = 64 * 1024;

/// How many of the threads are worth to be started for a pass over so many
/// values.
inline unsigned threads_for(std::size_t values, unsigned threads) {
  constexpr std::size_t least = 512 * 1024;
  return static_cast<unsigned>(
      std::min<std::size_t>(threads, values / least + 1));
}

/// Calls `work(begin, size)` for pieces of a vector of so many values,
/// likewise: each value is in one.
template <class Work>
void for_each_piece(std::size_t values, unsigned threads, const Work& work) {
  const auto pieces = (values + piece_values - 1) / piece_values;
  for_each_index(pieces, threads_for(values, threads), [&](std::size_t i) {
    const auto begin = i * piece_values;
    work(begin, std::min(piece_values, values - begin));
  });
}

} // namespace potluck
