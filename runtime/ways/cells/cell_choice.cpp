#include "runtime/ways/cells/cell_choice.hpp"

#include <algorithm>
#include <limits>

namespace potluck {

namespace {

/// Peers remembered; beyond, the one heard longest ago is forgotten.
constexpr std::size_t most_peers = 4096;
/// Differences in the number of contributors below this do not matter: reports
/// are late, and everybody would rush to the least burdened.
constexpr std::uint32_t burden_step = 4;

} // namespace

cell_choice::cell_choice(const peer_id& self, std::size_t group_size,
                         duration silent_after, std::uint64_t seed,
                         bool all_average)
    : self_{self}, group_size_{group_size}, silent_after_{silent_after},
      order_{seed}, chance_{seed}, all_average_{all_average} {
}

std::vector<cell_choice::row>::iterator
cell_choice::place_of(const peer_id& id) {
  return std::lower_bound(
      others_.begin(), others_.end(), id,
      [](const row& x, const peer_id& y) { return x.id < y; });
}

cell_choice::row* cell_choice::find(const peer_id& id) {
  auto at = place_of(id);
  return at != others_.end() && at->id == id ? &*at : nullptr;
}

bool cell_choice::estranged(const peer_id& id) const {
  auto at = missed_.find(id);
  return at != missed_.end() && at->second.estranged;
}

void cell_choice::met(const peer_id& who, bool relayed) {
  missed_.erase(who);
  if (relayed) {
    relayed_.insert(who);
    here_.erase(who);
  } else {
    relayed_.erase(who);
    if (here_.insert(who).second)
      left_out_until_ = time_point::min();
  }
  if (auto known = find(who))
    known->here = !relayed;
}

void cell_choice::missed(const peer_id& who, time_point now) {
  auto known = missed_.find(who);
  if (known == missed_.end()) {
    if (missed_.size() < most_peers)
      missed_.emplace(who, absence{now, {}, false});
  } else if (auto& x = known->second;
             !x.heard || now - *x.heard > silent_after_) {
    x = {now, {}, false}; // It was not there, and may have been away before.
  } else if (*x.heard - x.since >= estranged_after) {
    x.estranged = true;
  }
  lost(who);
}

void cell_choice::heard(const progress_report& x, time_point now,
                        bool connected) {
  if (x.role != role::trainer || x.id == self_)
    return;
  auto known = place_of(x.id);
  if (known == others_.end() || known->id != x.id) {
    if (others_.size() >= most_peers)
      others_.erase(
          std::min_element(others_.begin(), others_.end(),
                           [](auto& a, auto& b) { return a.at < b.at; }));
    known = others_.insert(place_of(x.id), row{});
    known->id = x.id;
    known->here = here_.count(x.id) != 0;
  }
  auto& it = *known;
  it.hearsay = !connected;
  it.contributes = x.contributes;
  const auto settled = x.phase != phase::joining && x.phase != phase::founding;
  if (settled && !it.settled)
    it.settled_since = now;
  it.settled = settled;
  it.decided = it.settled || x.members > 0;
  it.contributors = x.contributors;
  it.knows = x.members;
  it.hidden = !x.where.host.empty() && x.where.port == 0;
  it.at = now;
  if (auto away = missed_.find(x.id); away != missed_.end())
    away->second.heard = now;
}

void cell_choice::lost(const peer_id& who) {
  here_.erase(who);
  relayed_.erase(who);
  if (auto at = place_of(who); at != others_.end() && at->id == who)
    others_.erase(at);
  if (sponsor_ == who)
    sponsor_ = {};
}

cell_choice::census cell_choice::count(time_point now) const {
  census result;
  std::size_t known = 0; // To members.
  std::vector<const row*> apart;
  for (auto& x : others_) {
    if (!fresh(x, now))
      continue;
    result.told = std::max<std::size_t>(result.told, x.knows);
    if (x.contributes)
      continue;
    const auto before = x.id < self_;
    result.before_us_with_newcomers += before || x.settled;
    if (estranged(x.id) && x.decided)
      apart.push_back(&x);
    if (!x.decided || x.hearsay)
      continue;
    result.contributors += x.contributors;
    ++result.members;
    result.open += x.here && !x.hidden && x.settled
                   && now - x.settled_since >= settling;
    known = std::max<std::size_t>(known, x.knows);
    result.before_us += before;
  }
  if (contributes_)
    result.members = std::max(result.members, known);
  const auto ours = result.members + 1;
  result.apart = std::any_of(apart.begin(), apart.end(), [&](auto* x) {
    return x->knows >= far_fewer * ours
           || (x->id < self_ && far_fewer * x->knows > ours);
  });
  return result;
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
  const row* best = nullptr;
  for (const auto& id : members)
    if (auto x = find(id);
        x && x->here && (!best || burden(*x) < burden(*best)))
      best = x;
  advised_ = best ? best->id : peer_id{};
}

void cell_choice::reconsider(time_point now) {
  // Who came once to join, and was never heard of again, is many in a crowd.
  others_.erase(std::remove_if(others_.begin(), others_.end(),
                               [&](auto& x) { return !fresh(x, now); }),
                others_.end());
  // Those that were given up are tried again when the time is over.
  for (auto x = missed_.begin(); x != missed_.end();) {
    auto& [since, heard, estranged] = x->second;
    const auto silent = now - heard.value_or(since);
    const auto again
        = estranged && apart_until_ != time_point::min() && now >= apart_until_;
    x = again || silent > silent_after_ + estranged_after ? missed_.erase(x)
                                                          : std::next(x);
  }
  const auto there = count(now);
  if (there.contributors > 0)
    crowd_ = there.contributors;
  if (now >= apart_until_)
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
cell_choice::burden(const row& x) const {
  return {x.contributors / burden_step, mix(order_, seed_of(x.id))};
}

peer_id cell_choice::sponsor(const std::set<peer_id>& connected,
                             time_point now) {
  auto usable = [&](const row* x) {
    return x && x->settled && counts(*x, now) && connected.count(x->id) != 0;
  };
  if (!contributes_)
    return {};
  if (!advised_.empty() && usable(find(advised_))) {
    sponsor_ = advised_;
    advised_ = {};
  }
  if (!sponsor_.empty() && usable(find(sponsor_)))
    return sponsor_;
  const row* best = nullptr;
  for (auto& x : others_)
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
  for (auto& x : others_) {
    const auto out_of_reach
        = (x.hidden || estranged(x.id)) && connected.count(x.id) == 0;
    if (!counts(x, now) || x.id == sponsor_ || out_of_reach)
      continue;
    if (connected.count(x.id) != 0 && result.size() < links)
      result.push_back(x.id);
    else if (relayed_.count(x.id) != 0) // Good for news only.
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
