/// What `potluck bench averaging` and its reference have in common.
#pragma once

#include <cstdint>
#include <sys/resource.h>

namespace potluck::bench {

/// What member `number` contributes to value `i`: small whole numbers, so that
/// sums are exact in any order.
inline float contribution_of(std::uint64_t number, std::uint64_t i) {
  return static_cast<float>((i * 7 + number * 13) % 61);
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
