/// Which numbers of a report can be true at all, whoever says them: up to a
/// thousand times what any machine, line or run of today could say.
#pragma once

#include <cmath>
#include <cstdint>

#include "messages/limits.hpp"
#include "messages/progress.hpp"

namespace potluck::believable {

constexpr double most_samples_per_second = 1e9;
constexpr double most_bytes_per_second = 1e14;
constexpr std::uint64_t most_history_samples = std::uint64_t{1} << 56;
constexpr double most_loss = 1e300;

inline bool report(const progress_report& x) {
  auto within = [](double said, double most) {
    return std::isfinite(said) && said >= 0 && said <= most;
  };
  return x.where.host.size() <= max_host_bytes
         && x.also.host.size() <= max_host_bytes
         && within(x.samples_per_second, most_samples_per_second)
         && within(x.upload_bytes_per_second, most_bytes_per_second)
         && within(x.download_bytes_per_second, most_bytes_per_second)
         && within(std::abs(x.loss), most_loss)
         && x.history_samples <= most_history_samples;
}

} // namespace potluck::believable
