#include "runtime/ways/moshpit/moshpit_groups.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Finds the best sides: looks at every descending sequence of so many.
class side_search {
public:
  side_search(std::size_t peers, std::size_t longest, std::size_t count)
      : peers_(peers), longest_(longest), count_(count) {
    extend(1);
  }

  const std::vector<std::size_t>& best() const {
    return best_;
  }

private:
  void extend(std::size_t places) {
    if (!best_.empty() && places > fewest_)
      return;
    if (sides_.size() == count_) {
      if (places >= peers_ && (best_.empty() || better(places))) {
        best_ = sides_;
        fewest_ = places;
      }
      return;
    }
    const auto most = sides_.empty() ? longest_ : sides_.back();
    const auto least
        = sides_.empty() ? 2 : std::max<std::size_t>(2, (sides_[0] + 1) / 2);
    for (auto side = most; side >= least; --side) {
      sides_.push_back(side);
      extend(places * side);
      sides_.pop_back();
    }
  }

  /// Of equally many places, the most even sides.
  bool better(std::size_t places) const {
    return places < fewest_ || sides_.front() < best_.front();
  }

  std::size_t peers_;
  std::size_t longest_;
  std::size_t count_;
  std::vector<std::size_t> sides_;
  std::vector<std::size_t> best_;
  std::size_t fewest_ = 0;
};

/// Puts those who would be alone into the smallest other group that has room;
/// where none has, the largest gives them company.
void join_loners(std::vector<std::vector<std::size_t>>& groups,
                 std::size_t group_size) {
  auto smaller
      = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].size() != 1)
      continue;
    std::swap(groups[i], groups.back());
    const auto end = groups.end() - 1;
    auto host = std::min_element(groups.begin(), end, smaller);
    if (host != end && host->size() < group_size) {
      host->push_back(groups.back().front());
      groups.pop_back();
      --i; // Another one stands here now.
      continue;
    }
    std::swap(groups[i], groups.back());
    auto donor = std::max_element(groups.begin(), groups.end(), smaller);
    if (donor->size() > 2) {
      groups[i].push_back(donor->back());
      donor->pop_back();
    }
  }
}

} // namespace

moshpit_grid::moshpit_grid(std::size_t peers, std::size_t group_size)
    : peers_(peers), group_size_(group_size) {
  if (peers == 0 || group_size < 2)
    throw std::invalid_argument("a grid needs peers, and groups of at least "
                                "two.");
  std::size_t dimensions = 1;
  for (auto reach = group_size; reach < peers; reach *= group_size)
    ++dimensions;
  if (dimensions == 1)
    sides_ = {peers};
  else
    sides_ = side_search(peers, group_size, dimensions).best();
  for (auto side : sides_)
    places_ *= side;
}

std::vector<std::vector<std::size_t>>
moshpit_grid::groups(std::uint64_t round) const {
  const auto which = static_cast<std::size_t>(round % sides_.size());
  std::size_t stride = 1;
  for (std::size_t i = 0; i < which; ++i)
    stride *= sides_[i];
  // The key of a group is a place's number without the digit of this round.
  std::map<std::size_t, std::vector<std::size_t>> lines;
  for (std::size_t rank = 0; rank < peers_; ++rank) {
    const auto place = rank * places_ / peers_;
    const auto above = place / (stride * sides_[which]);
    lines[above * stride + place % stride].push_back(rank);
  }
  std::vector<std::vector<std::size_t>> result;
  for (auto& [key, line] : lines)
    result.push_back(std::move(line));
  join_loners(result, group_size_);
  return result;
}

std::vector<std::vector<peer_id>> moshpit_groups(std::vector<peer_id> peers,
                                                 std::size_t group_size,
                                                 std::uint64_t seed,
                                                 std::uint64_t round) {
  if (peers.empty())
    return {};
  const moshpit_grid grid{peers.size(), group_size};
  const auto epoch = mix(seed, round / grid.rounds());
  std::vector<std::pair<std::uint64_t, peer_id>> order;
  for (auto& id : peers)
    order.emplace_back(mix(epoch, seed_of(id)), id);
  std::sort(order.begin(), order.end());
  std::vector<std::vector<peer_id>> result;
  for (auto& ranks : grid.groups(round)) {
    auto& group = result.emplace_back();
    for (auto rank : ranks)
      group.push_back(order[rank].second);
    std::sort(group.begin(), group.end());
  }
  return result;
}

std::vector<peer_id> moshpit_group_of(const peer_id& self,
                                      std::vector<peer_id> peers,
                                      std::size_t group_size,
                                      std::uint64_t seed, std::uint64_t round) {
  for (auto& group : moshpit_groups(std::move(peers), group_size, seed, round))
    if (std::binary_search(group.begin(), group.end(), self))
      return group;
  return {};
}

} // namespace potluck
