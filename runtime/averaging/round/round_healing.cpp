#include "runtime/averaging/round/round_healing.hpp"

#include <algorithm>
#include <utility>

#include "messages/limits.hpp"

namespace potluck {

namespace {

/// Gives chunks that nobody has begun to whoever is the least burdened by them.
class spreader {
public:
  spreader(const std::vector<std::uint8_t>& members, const chunk_map& map) {
    for (auto i : members)
      takers_.push_back({i, map.chunks_of(i).count, 0});
    // Those that the plan spared have no line to spare now, unless all have.
    auto spared = [](const taker& x) { return x.weight == 0; };
    if (std::all_of(takers_.begin(), takers_.end(), spared))
      for (auto& x : takers_)
        x.weight = 1;
    takers_.erase(std::remove_if(takers_.begin(), takers_.end(), spared),
                  takers_.end());
  }
  std::size_t next() {
    auto at = std::min_element(
        takers_.begin(), takers_.end(), [](const taker& a, const taker& b) {
          return (a.given + 1) * b.weight < (b.given + 1) * a.weight;
        });
    ++at->given;
    return at->member;
  }

private:
  struct taker {
    std::size_t member;
    std::uint64_t weight;
    std::uint64_t given;
  };
  std::vector<taker> takers_;
};

} // namespace

round_healing::round_healing(const chunk_map& map,
                             std::vector<std::uint64_t> samples,
                             std::uint64_t least_samples,
                             std::optional<direct_lines> lines)
    : map_{map}, samples_{std::move(samples)},
      least_samples_{std::max<std::uint64_t>(least_samples, 1)},
      lines_{std::move(lines)} {
}

std::optional<round_heal>
round_healing::rule(const group_id& group, std::uint32_t epoch,
                    const std::vector<report>& reports) const {
  round_heal result{group, epoch, {}, {}};
  std::uint64_t total = 0;
  std::uint64_t alive = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    total += samples_[i];
    if (!reports.at(i))
      continue;
    alive += samples_[i];
    result.alive.push_back(static_cast<std::uint8_t>(i));
  }
  std::vector<bool> here(samples_.size(), false);
  for (auto i : result.alive)
    here[i] = true;
  std::vector<std::uint8_t> givers;
  for (auto i : result.alive)
    if (!lines_ || lines_->serves(i, here))
      givers.push_back(i);
  if (map_.chunk_count() > max_heal_chunks || givers.empty())
    return std::nullopt;
  spreader orphans{givers, map_};
  result.chunks.reserve(map_.chunk_count());
  for (std::uint32_t chunk = 0; chunk < map_.chunk_count(); ++chunk) {
    auto planned = map_.owner(chunk);
    // Best by version, then by samples, then the planned one, then the first.
    std::optional<std::size_t> source;
    chunk_standing best;
    for (auto i : givers) {
      chunk_standing x;
      if (chunk < reports[i]->size())
        x = (*reports[i])[chunk];
      if (x.version == 0 && x.samples == 0 && i != planned)
        continue;
      auto better = x.version != best.version ? x.version > best.version
                                              : x.samples > best.samples;
      if (!source || better || (x == best && x.version == 0 && i == planned)) {
        source = i;
        best = x;
      }
    }
    if (!source)
      source = orphans.next();
    auto most = best.version != 0 ? best.samples
                                  : std::min(total, alive + best.samples);
    if (most < least_samples_)
      return std::nullopt;
    result.chunks.push_back({static_cast<std::uint8_t>(*source),
                             best.version != 0 ? best.version : epoch + 2});
  }
  return result;
}

} // namespace potluck
