#include "runtime/cells/cell_choice.hpp"

#include <algorithm>
#include <cstring>

namespace potluck {

namespace {

/// Peers remembered; beyond, the one heard longest ago is forgotten.
constexpr std::size_t most_peers = 4096;
/// Differences in the number of contributors below this do not matter: reports
/// are late, and everybody would rush to the least burdened.
constexpr std::uint32_t burden_step = 4;

} // namespace

cell_choice::cell_choice(const peer_id& self, std::size_t group_size,
                         duration silent_after, std::uint64_t seed)
    : self_{self}, group_size_{group_size},
      silent_after_{silent_after}, order_{seed}, chance_{seed} {
}

void cell_choice::heard(const progress_report& x, time_point now) {
  if (x.role != role::trainer || x.id == self_)
    return;
  if (others_.size() >= most_peers && others_.count(x.id) == 0)
    others_.erase(
        std::min_element(others_.begin(), others_.end(), [](auto& a, auto& b) {
          return a.second.at < b.second.at;
        }));
  auto settled = x.phase != phase::joining && x.phase != phase::founding;
  others_[x.id] = {x.contributes,  settled,   settled || x.members > 0,
                   x.contributors, x.members, now};
}

void cell_choice::lost(const peer_id& who) {
  here_.erase(who);
  others_.erase(who);
  if (sponsor_ == who)
    sponsor_ = {};
}

std::size_t cell_choice::members(time_point now) const {
  std::size_t heard = 0;
  std::size_t told = 0;
  for (auto& [id, x] : others_)
    if (counts(id, x, now) && x.decided) {
      ++heard;
      told = std::max<std::size_t>(told, x.knows);
    }
  return contributes_ ? std::max(heard, told) : heard;
}

bool cell_choice::enough_members(time_point now) const {
  return enough(members(now));
}

bool cell_choice::enough(std::size_t members) const {
  return static_cast<double>(members)
         >= enough_parts * static_cast<double>(group_size_);
}

std::size_t cell_choice::before_us(time_point now, bool newcomers) const {
  return static_cast<std::size_t>(
      std::count_if(others_.begin(), others_.end(), [&](auto& x) {
        auto& [id, other] = x;
        auto before = newcomers ? id < self_ || other.settled
                                : id < self_ && other.decided;
        return counts(id, other, now) && before;
      }));
}

void cell_choice::reconsider(time_point now) {
  // Who came once to join, and was never heard of again, is many in a crowd.
  for (auto i = others_.begin(); i != others_.end();)
    i = fresh(i->first, i->second, now) ? std::next(i) : others_.erase(i);
  double crowd = 0;
  for (auto& [id, x] : others_)
    if (counts(id, x, now))
      crowd += x.contributors;
  if (crowd > 0)
    crowd_ = crowd;
  const auto size = static_cast<double>(group_size_);
  if (!decided_) {
    decided_ = true;
    // Whoever is here already knows more than a newcomer has heard of yet.
    std::size_t told = 0;
    for (auto& [id, x] : others_)
      if (fresh(id, x, now))
        told = std::max<std::size_t>(told, x.knows);
    contributes_ = std::max(before_us(now, true), told) >= group_size_;
    return;
  }
  const auto there = members(now);
  if (contributes_) {
    // Whoever comes forward cannot agree with the others on who it should be:
    // chance lets about as many as are missing.
    const auto missing = size - static_cast<double>(there);
    if (!enough(there) && chance_.uniform01() < hurry * missing / crowd_)
      contributes_ = false;
  } else if (static_cast<double>(there) + 1 > too_many_members * size
             && before_us(now, false) >= group_size_) {
    contributes_ = true;
  }
  if (!contributes_)
    sponsor_ = {};
}

std::pair<std::uint32_t, std::uint64_t>
cell_choice::burden(const peer_id& id, const row& x) const {
  std::uint64_t low;
  std::memcpy(&low, id.bytes.data(), sizeof(low));
  return {x.contributors / burden_step, mix(order_, low)};
}

peer_id cell_choice::sponsor(const std::set<peer_id>& connected,
                             time_point now) {
  auto usable = [&](const peer_id& id) {
    auto at = others_.find(id);
    return at != others_.end() && connected.count(id) != 0
           && counts(id, at->second, now) && at->second.settled;
  };
  if (!contributes_)
    return {};
  if (!advised_.empty() && usable(advised_)) {
    sponsor_ = advised_;
    advised_ = {};
  }
  if (!sponsor_.empty() && usable(sponsor_))
    return sponsor_;
  sponsor_ = {};
  for (auto& [id, x] : others_)
    if (usable(id)
        && (sponsor_.empty()
            || burden(id, x) < burden(sponsor_, others_.at(sponsor_))))
      sponsor_ = id;
  return sponsor_;
}

std::vector<peer_id> cell_choice::wanted(const std::set<peer_id>& connected,
                                         time_point now) const {
  std::vector<std::pair<std::pair<std::uint32_t, std::uint64_t>, peer_id>> rest;
  std::vector<peer_id> result;
  if (!sponsor_.empty())
    result.push_back(sponsor_);
  for (auto& [id, x] : others_) {
    if (!counts(id, x, now) || id == sponsor_)
      continue;
    if (connected.count(id) != 0 && result.size() < links)
      result.push_back(id);
    else
      rest.push_back({burden(id, x), id});
  }
  std::sort(rest.begin(), rest.end());
  for (auto& x : rest)
    if (result.size() < links)
      result.push_back(x.second);
  return result;
}

} // namespace potluck
