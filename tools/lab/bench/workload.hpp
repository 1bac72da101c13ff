/// What `potluck bench averaging` and its references have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sys/resource.h>
#include <vector>

namespace potluck::bench {

/// What member `number` contributes to value `i`: small whole numbers, so that
/// sums are exact in any order.
inline float contribution_of(std::uint64_t number, std::uint64_t i) {
  return static_cast<float>((i * 7 + number * 13) % 61);
}

/// Whether all of the sum over `members` is right; says what is not.
inline bool is_sum(const std::vector<float>& out, int members) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    float wanted = 0;
    for (int other = 0; other < members; ++other)
      wanted += contribution_of(static_cast<std::uint64_t>(other), i);
    if (out[i] != wanted) {
      std::fprintf(stderr, "value %zu of the sum is wrong\n", i);
      return false;
    }
  }
  return true;
}

/// Seconds of the machine's steady clock.
inline double seconds(std::chrono::steady_clock::time_point x) {
  return std::chrono::duration<double>(x.time_since_epoch()).count();
}
inline double now_seconds() {
  return seconds(std::chrono::steady_clock::now());
}

/// Of this process, all its threads, in the kernel too.
inline double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto in_seconds = [](const timeval& x) {
    return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_usec) / 1e6;
  };
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

} // namespace potluck::bench
