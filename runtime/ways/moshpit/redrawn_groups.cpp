#include "runtime/ways/moshpit/redrawn_groups.hpp"

#include <algorithm>

#include "runtime/contract_members.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/random.hpp"
#include "runtime/ways/moshpit/moshpit_groups.hpp"
#include "runtime/ways/moshpit/moshpit_vector.hpp"

namespace potluck {

namespace {

bool is_ready(const progress_report& x) {
  return x.phase == phase::accumulating || x.phase == phase::waiting
         || x.phase == phase::matchmaking;
}

template <class Condition>
void remove_if(way::reports& from, Condition condition) {
  from.erase(std::remove_if(from.begin(), from.end(), condition), from.end());
}

/// Trainers that are heard of and have no session with this peer.
std::set<peer_id> out_of_reach(const outlook& at) {
  std::set<peer_id> result;
  for (auto& id : at.others.known_trainers(at.now))
    if (id != at.own.id && !at.others.connected(id))
      result.insert(id);
  return result;
}

} // namespace

// ---- with whom --------------------------------------------------------------

const std::set<peer_id>& redrawn_groups::group(const outlook& at) {
  // Those that are behind, or fetch, stay in the draw: it is to be the same at
  // all, and where each stands changes all the time.
  auto known = at.others.known_trainers(at.now);
  if (drawn_.empty() || known != drawn_from_ || drawn_for_ != at.own.step) {
    auto mine = moshpit_group_of(at.own.id, known, how_.group_size, how_.seed,
                                 at.own.step);
    drawn_ = {mine.begin(), mine.end()};
    drawn_from_ = std::move(known);
    drawn_for_ = at.own.step;
  }
  return drawn_;
}

way::reports redrawn_groups::partners(const outlook& at) {
  auto result = at.others.tracker().companions(at.now);
  const auto& mine = group(at);
  remove_if(result, [&](auto& x) {
    return mine.count(x.id) == 0 || !at.others.connected(x.id);
  });
  return result;
}

bool redrawn_groups::awaits(const outlook& at, const peer_id& who) {
  return group(at).count(who) != 0;
}

bool redrawn_groups::can_lead(const outlook& at, const reports& partners) {
  return group(at).size() <= 1
         || std::any_of(partners.begin(), partners.end(), is_ready);
}

bool redrawn_groups::others_lead(const outlook& at, const reports& partners,
                                 const leader_order& order,
                                 std::size_t passed_over, duration due) {
  // Those that reach all of the group come before those that do not.
  auto free = partners;
  remove_if(free, [&](auto& x) { return hampered_.count(x.id) != 0; });
  const auto& mine = group(at);
  auto reaches_all = std::all_of(mine.begin(), mine.end(), [&](auto& id) {
    return id == at.own.id || at.others.connected(id);
  });
  if (reaches_all)
    return !should_lead(at.own, free, order, passed_over);
  // They may not know that they are to lead.
  auto any = std::any_of(free.begin(), free.end(), is_ready);
  return (any && due < hampered_pause)
         || !should_lead(at.own, partners, order, passed_over);
}

void redrawn_groups::formed(const group_contract& contract) {
  for (auto& member : contract.members)
    if (!member.relayed.empty())
      hampered_.insert(member.who.id);
}

// ---- a peer that is behind --------------------------------------------------

way::reports redrawn_groups::donors(const outlook& at, reports ahead,
                                    duration patience) {
  remove_if(ahead, [&](auto& x) { return !at.others.connected(x.id); });
  // A peer that claims more samples for no later step is not ahead.
  if (ahead.empty() || ahead.front().step <= at.own.step) {
    behind_since_.reset();
    return {};
  }
  if (may_still_form(at, ahead.front().step, patience))
    return {};
  // Each holds a state of its own: one gives all of it.
  auto chance = mix(mix(seed_of(at.own.id), at.own.step), ++fetches_);
  return {ahead[chance % ahead.size()]};
}

bool redrawn_groups::may_still_form(const outlook& at, std::uint64_t step_ahead,
                                    duration patience) {
  if (step_ahead != at.own.step + 1)
    return false;
  if (!behind_since_)
    behind_since_ = at.now;
  std::size_t others = 0;
  std::size_t ahead = 0;
  const auto& mine = group(at);
  for (auto& x : at.others.tracker().fresh(at.now))
    if (mine.count(x.id) != 0) {
      ++others;
      ahead += x.step > at.own.step;
    }
  return 2 * ahead <= others && at.now - *behind_since_ < patience;
}

// ---- due or not -------------------------------------------------------------

bool redrawn_groups::due(const outlook& at) const {
  if (at.others.tracker().target_reached(at.now))
    return true;
  // Those that have made the step do not count for it any more, but did.
  auto all = at.others.tracker().fresh(at.now);
  return std::any_of(all.begin(), all.end(), [&](auto& x) {
    return x.role == role::trainer && x.step > at.own.step
           && at.others.connected(x.id);
  });
}

std::uint64_t redrawn_groups::least_samples(const outlook& at,
                                            const reports& partners) const {
  auto all = at.own.samples;
  for (auto& x : partners)
    all += x.samples;
  return std::max<std::uint64_t>(1, all / 2);
}

// ---- what is reported -------------------------------------------------------

digest redrawn_groups::reported_state(std::uint64_t step, const digest&) const {
  return nominal_state(how_.charter, step);
}

void redrawn_groups::tell(const outlook& at, matchmaking_facts& facts) {
  if (at.own.role == role::trainer) // Auxiliaries are in every group.
    for (const auto& id : group(at))
      if (id != at.own.id && !at.others.connected(id))
        facts.out_of_reach.insert(id);
}

std::pair<std::string, std::string>
redrawn_groups::explain(const outlook& at, const group_contract& contract) {
  const auto most = how_.group_size;
  const auto known = at.others.known_trainers(at.now).size();
  if (known <= most)
    return {"one group",
            std::to_string(known) + " known trainers fit into a group of "
                + std::to_string(most) + ", so all draw the same one"};
  const auto members = trainers_of(contract);
  const moshpit_grid places{known, most};
  std::string grid;
  for (auto side : places.sides())
    grid += (grid.empty() ? "" : "x") + std::to_string(side);
  return {"moshpit", std::to_string(members) + " of " + std::to_string(known)
                         + " known trainers, on a grid of " + grid + ", "
                         + std::to_string(out_of_reach(at).size())
                         + " out of reach from here"};
}

// ---- what is lent -----------------------------------------------------------

std::uint64_t redrawn_groups::round_values(std::uint64_t parameters) const {
  return moshpit_values(parameters);
}

} // namespace potluck
