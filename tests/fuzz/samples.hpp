/// What a search for inputs that break something begins with: sound ones.
#pragma once

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace potluck {

using fuzz_samples = std::vector<std::string>;

/// For libFuzzer, each as a file of `folder`.
inline void write_seeds(const fuzz_samples& all, const std::string& folder) {
  int number = 0;
  for (const auto& x : all)
    std::ofstream{folder + "/seed-" + std::to_string(number++),
                  std::ios::binary}
        << x;
}

/// Without libFuzzer: `tries` of them, most with some bytes that are others, or
/// cut short.
/// @param first Bytes that stay.
/// @returns How many `target` accepted.
template <class Target>
std::size_t feed_mutants(const fuzz_samples& all, int tries, unsigned seed,
                         Target target, std::size_t first = 1) {
  std::mt19937 random{seed};
  std::size_t accepted = 0;
  for (int i = 0; i < tries; ++i) {
    auto x = all[random() % all.size()];
    for (auto n = random() % 4; n > 0 && x.size() > first; --n)
      x[first + random() % (x.size() - first)] = static_cast<char>(random());
    if (random() % 8 == 0)
      x.resize(random() % (x.size() + 1));
    // An exact copy, so that a sanitizer sees a read beyond the end.
    const std::vector<std::uint8_t> exact(x.begin(), x.end());
    accepted += target(exact.data(), exact.size()) > 0;
  }
  return accepted;
}

} // namespace potluck
