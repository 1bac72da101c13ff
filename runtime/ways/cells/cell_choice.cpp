#include "runtime/ways/cells/cell_choice.hpp"

#include <algorithm>
#include <limits>

namespace potluck {

namespace {

/// Differences in the number of contributors below this do not matter: reports
/// are late, and everybody would rush to the least burdened.
constexpr std::uint32_t burden_step = 4;

} // namespace

cell_choice::cell_choice(const peer_id& self, std::size_t group_size,
                         duration silent_after, std::uint64_t seed,
                         bool all_average)
    : others_{self, silent_after}, group_size_{group_size}, order_{seed},
      chance_{seed}, all_average_{all_average} {
}

void cell_choice::met(const peer_id& who, bool relayed) {
  if (others_.met(who, relayed))
    left_out_until_ = time_point::min();
}

void cell_choice::missed(const peer_id& who, time_point now) {
  others_.missed(who, now);
  leave(who);
}

void cell_choice::lost(const peer_id& who) {
  others_.lost(who);
  leave(who);
}

void cell_choice::leave(const peer_id& sponsor) {
  if (sponsor_ == sponsor)
    sponsor_ = {};
}

std::size_t cell_choice::members(time_point now) const {
  const auto there = count(now).members;
  // Else contributors that hear of few members through it would come forward,
  // too.
  return came_forward_ && now - *came_forward_ < acquaintance
             ? std::max(there, members_before_)
             : there;
}

bool cell_choice::enough_members(time_point now) const {
  return enough(members(now)) || stands_back(count(now), now);
}

bool cell_choice::stands_back(const census& there, time_point now) const {
  if (now < left_out_until_)
    return there.members > 0;
  return (hidden_ || now < apart_until_) && there.open > 0;
}

bool cell_choice::enough(std::size_t members) const {
  return static_cast<double>(members)
         >= enough_parts * static_cast<double>(group_size_);
}

void cell_choice::left_out(const std::vector<peer_id>& members,
                           time_point now) {
  left_out_until_ = now + estrangement;
  const trainer* best = nullptr;
  for (const auto& id : members)
    if (auto x = others_.find(id);
        x && x->here && (!best || burden(*x) < burden(*best)))
      best = x;
  advised_ = best ? best->id : peer_id{};
}

void cell_choice::reconsider(time_point now) {
  // Those that were given up are tried again when the time is over.
  const bool apart_over
      = apart_until_ != time_point::min() && now >= apart_until_;
  others_.forget_silent(now, apart_over);
  const auto there = count(now);
  if (there.contributors > 0)
    crowd_ = there.contributors;
  if (apart_over)
    apart_until_ = time_point::min();
  if (there.apart && !contributes_ && decided_
      && chance_.uniform01() < giving_way)
    apart_until_ = now + estrangement;
  if (all_average_) {
    decided_ = true;
    return;
  }
  if (stands_back(there, now)) {
    decided_ = true;
    contributes_ = true;
    alone_since_.reset();
    return;
  }
  if (!decided_) {
    decided_ = true;
    // Whoever is here already knows more than a newcomer has heard of yet.
    contributes_
        = std::max(there.before_us_with_newcomers, there.told) >= group_size_
          || static_cast<double>(published_)
                 > too_many_members * static_cast<double>(group_size_);
    return;
  }
  const auto size = static_cast<double>(group_size_);
  const auto members = static_cast<double>(there.members);
  if (contributes_) {
    // Whoever comes forward cannot agree with the others on who it should be:
    // chance lets about as many as are missing.
    if (there.members > 0)
      alone_since_.reset();
    else if (!alone_since_)
      alone_since_ = now;
    const auto knows = !alone_since_ || now - *alone_since_ >= acquaintance;
    if (knows && !enough(there.members)
        && chance_.uniform01() < hurry * (size - members) / crowd_) {
      contributes_ = false;
      came_forward_ = now;
      members_before_ = there.members;
      alone_since_.reset();
    }
  } else if (members + 1 > too_many_members * size
             && there.before_us >= group_size_) {
    contributes_ = true;
  }
  if (!contributes_)
    sponsor_ = {};
}

std::pair<std::uint32_t, std::uint64_t>
cell_choice::burden(const trainer& x) const {
  return {x.contributors / burden_step, mix(order_, seed_of(x.id))};
}

peer_id cell_choice::sponsor(const std::set<peer_id>& connected,
                             time_point now) {
  auto usable = [&](const trainer* x) {
    return x && x->settled && others_.counts(*x, now)
           && connected.count(x->id) != 0;
  };
  if (!contributes_)
    return {};
  if (!advised_.empty() && usable(others_.find(advised_))) {
    sponsor_ = advised_;
    advised_ = {};
  }
  if (!sponsor_.empty() && usable(others_.find(sponsor_)))
    return sponsor_;
  const trainer* best = nullptr;
  for (auto& x : others_.all())
    if (usable(&x) && (!best || burden(x) < burden(*best)))
      best = &x;
  sponsor_ = best ? best->id : peer_id{};
  return sponsor_;
}

std::vector<peer_id> cell_choice::wanted(const std::set<peer_id>& connected,
                                         time_point now) const {
  std::vector<std::pair<std::pair<std::uint32_t, std::uint64_t>, peer_id>> rest;
  std::vector<peer_id> result;
  if (!sponsor_.empty())
    result.push_back(sponsor_);
  for (auto& x : others_.all()) {
    const auto out_of_reach
        = (x.hidden || others_.estranged(x.id)) && connected.count(x.id) == 0;
    if (!others_.counts(x, now) || x.id == sponsor_ || out_of_reach)
      continue;
    if (connected.count(x.id) != 0 && result.size() < links)
      result.push_back(x.id);
    else if (others_.relayed(x.id)) // Good for news only.
      rest.push_back({{std::numeric_limits<std::uint32_t>::max(), 0}, x.id});
    else
      rest.push_back({burden(x), x.id});
  }
  std::sort(rest.begin(), rest.end());
  for (auto& x : rest)
    if (result.size() < links)
      result.push_back(x.second);
  return result;
}

} // namespace potluck
