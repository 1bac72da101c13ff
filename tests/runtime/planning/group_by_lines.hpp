/// Contracts of groups in which some pairs have no line of their own.
#pragma once

#include <functional>
#include <random>

#include "messages/matchmaking.hpp"

namespace potluck::test {

inline peer_id numbered(std::size_t i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i + 1);
  return x;
}

/// So many trainers, then so many auxiliaries, with equal lines of 1 MB/s.
/// @param line Whether two of them, the first before the second, have a line.
inline group_contract
group_by_lines(std::size_t trainers, std::size_t auxiliaries,
               const std::function<bool(std::size_t, std::size_t)>& line) {
  group_contract x;
  x.group.bytes[0] = 7;
  x.step = 1;
  x.gradient_values = 1000000;
  x.chunk_values = 1000;
  x.patience_ms = 2000;
  x.least_samples = 1;
  for (std::size_t i = 0; i < trainers + auxiliaries; ++i) {
    group_member m;
    m.who.id = numbered(i);
    m.role = i < trainers ? role::trainer : role::auxiliary;
    m.samples = i < trainers ? 4 : 0;
    m.upload_bytes_per_second = m.download_bytes_per_second = 1e6;
    for (std::size_t j = i + 1; j < trainers + auxiliaries; ++j)
      if (!line(i, j))
        m.relayed.push_back(numbered(j));
    x.members.push_back(m);
  }
  return x;
}

/// Each pair has a line by this chance; each trainer's speeds are some home's.
inline group_contract random_group(std::size_t trainers, double chance,
                                   std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> uniform;
  auto x = group_by_lines(trainers, 0,
                          [&](auto, auto) { return uniform(random) < chance; });
  for (auto& m : x.members) {
    m.upload_bytes_per_second = 1e6 * (0.3 + 3 * uniform(random));
    m.download_bytes_per_second
        = m.upload_bytes_per_second * (1 + 4 * uniform(random));
  }
  return x;
}

} // namespace potluck::test
