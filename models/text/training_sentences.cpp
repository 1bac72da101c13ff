#include "models/text/training_sentences.hpp"

#include <algorithm>
#include <cstdint>

namespace potluck {

std::vector<std::string_view> training_sentences(std::string_view text,
                                                 std::size_t byte_limit) {
  std::uint64_t all = 0;
  for_each_sentence(text, max_sentence_bytes,
                    [&](std::string_view x) { all += x.size(); });
  std::vector<std::string_view> result;
  // Takes a sentence when that keeps the share taken at or below the share
  // seen, which spreads them without chance.
  std::uint64_t seen = 0;
  std::uint64_t taken = 0;
  const double share = all == 0 ? 1
                                : std::min(1.0, static_cast<double>(byte_limit)
                                                    / static_cast<double>(all));
  for_each_sentence(text, max_sentence_bytes, [&](std::string_view x) {
    seen += x.size();
    const auto due = share * static_cast<double>(seen);
    if (share == 1 || static_cast<double>(taken + x.size()) <= due) {
      taken += x.size();
      result.push_back(x);
    }
  });
  return result;
}

} // namespace potluck
