/// The conductor's part in groups that are drawn anew for every step
/// (runtime/moshpit): who is in this peer's, when it is due, and when it has
/// formed without us.
#include "actors/conductor.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/config.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/moshpit/moshpit_groups.hpp"
#include "runtime/moshpit/moshpit_vector.hpp"
#include "runtime/planning/collaboration.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

bool is_ready(const progress_report& x) {
  return x.phase == phase::accumulating || x.phase == phase::waiting
         || x.phase == phase::matchmaking;
}

} // namespace

digest conductor_state::reported_state(std::uint64_t step,
                                       const digest& held) const {
  return redraws() ? nominal_state(own_.charter, step) : held;
}

// ---- the draw
// ----------------------------------------------------------------------

std::vector<peer_id> conductor_state::known_trainers() const {
  std::vector<peer_id> result{config_.self};
  for (auto& r : tracker_->fresh(self_->clock().now()))
    if (r.role == role::trainer)
      result.push_back(r.id);
  return result;
}

const std::set<peer_id>& conductor_state::drawn_group() {
  // Those who are behind, or fetch, stay in the draw: it is to be the same at
  // all, and who is where changes all the time.
  auto known = known_trainers();
  if (drawn_.empty() || known != drawn_from_ || drawn_for_ != own_.step) {
    auto group = moshpit_group_of(config_.self, known, settings().group_size,
                                  settings().seed, own_.step);
    drawn_ = {group.begin(), group.end()};
    drawn_from_ = std::move(known);
    drawn_for_ = own_.step;
  }
  return drawn_;
}

std::vector<progress_report> conductor_state::partners() {
  auto result = tracker_->companions(self_->clock().now());
  if (!redraws())
    return result;
  const auto& group = drawn_group();
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](auto& r) {
                                return group.count(r.id) == 0
                                       || connected_.count(r.id) == 0;
                              }),
               result.end());
  return result;
}

std::set<peer_id> conductor_state::out_of_reach() const {
  std::set<peer_id> result;
  for (auto& id : known_trainers())
    if (id != config_.self && connected_.count(id) == 0)
      result.insert(id);
  return result;
}

void conductor_state::tell_out_of_reach(matchmaking_facts& facts) {
  facts.out_of_reach = out_of_reach();
  // Two that cannot reach each other need nothing of each other, where a plan
  // has neither of them average for others.
  if (settings().shares != to_string(share_rule::planned))
    return;
  std::vector<slow_pair> pairs;
  for (auto& id : drawn_group())
    if (pairs.size() < max_slow_pairs && facts.out_of_reach.erase(id) != 0)
      pairs.push_back({id, pair_out_of_reach});
  for (auto& x : facts.slow_pairs)
    if (pairs.size() < max_slow_pairs)
      pairs.push_back(x);
  facts.slow_pairs = std::move(pairs);
}

void conductor_state::hear_of(const progress_report& r) {
  if (r.role == role::trainer && gone_.count(r.id) == 0)
    tracker_->hear(r, self_->clock().now());
}

bool conductor_state::cannot_be_reached(const peer_left& x) {
  if (!redraws() || connected_.count(x.id) != 0)
    return false;
  unconnected_since_.erase(x.id);
  if (out_of_touch_.size() < limits::gone_peers)
    out_of_touch_.insert(x.id);
  return true;
}

// ---- when it is due
// ---------------------------------------------------------------------

bool conductor_state::step_is_due() const {
  auto now = self_->clock().now();
  if (tracker_->target_reached(now))
    return true;
  if (!redraws())
    return false;
  // Those who have made the step do not count for it any more, but did.
  auto all = tracker_->fresh(now);
  return std::any_of(all.begin(), all.end(), [&](auto& r) {
    return r.role == role::trainer && r.step > own_.step
           && connected_.count(r.id) != 0;
  });
}

bool conductor_state::others_lead(const std::vector<progress_report>& partners,
                                  std::size_t passed_over) {
  auto free = partners;
  free.erase(
      std::remove_if(free.begin(), free.end(),
                     [&](auto& r) { return hampered_.count(r.id) != 0; }),
      free.end());
  const auto& group = drawn_group();
  auto reaches_all = std::all_of(group.begin(), group.end(), [&](auto& id) {
    return id == config_.self || connected_.count(id) != 0;
  });
  if (reaches_all)
    return !should_lead(own_, free, leaders_, passed_over);
  // They may not know that they are to lead.
  auto waited = self_->clock().now() - *group_due_since_;
  auto any = std::any_of(free.begin(), free.end(), is_ready);
  return (any && waited < hampered_pause)
         || !should_lead(own_, partners, leaders_, passed_over);
}

void conductor_state::note_reach(const group_contract& contract) {
  for (auto& member : contract.members) {
    auto& pairs = member.slow_pairs;
    if (std::any_of(pairs.begin(), pairs.end(), [](auto& x) {
          return x.bytes_per_second <= pair_out_of_reach;
        }))
      hampered_.insert(member.who.id);
  }
}

bool conductor_state::has_nobody_to_lead(
    const std::vector<progress_report>& partners) {
  return redraws() && drawn_group().size() > 1
         && std::none_of(partners.begin(), partners.end(), is_ready);
}

std::uint64_t conductor_state::least_samples(
    const std::vector<progress_report>& partners) const {
  if (!redraws())
    return 0;
  // Not their part of the target batch: a group of slow machines has less, and
  // would never make a step.
  auto all = own_.samples;
  for (auto& r : partners)
    all += r.samples;
  return std::max<std::uint64_t>(1, all / 2);
}

// ---- who is behind
// ----------------------------------------------------------------------

bool conductor_state::group_may_still_form(std::uint64_t step_ahead) {
  if (step_ahead != own_.step + 1)
    return false;
  auto now = self_->clock().now();
  if (!behind_since_)
    behind_since_ = now;
  std::size_t others = 0;
  std::size_t ahead = 0;
  const auto& group = drawn_group();
  for (auto& r : tracker_->fresh(now))
    if (group.count(r.id)) {
      ++others;
      ahead += r.step > own_.step;
    }
  return 2 * ahead <= others && now - *behind_since_ < round_patience();
}

std::vector<progress_report> conductor_state::donors() {
  auto result = tracker_->ahead(self_->clock().now());
  if (result.empty() || !redraws())
    return result;
  result.erase(
      std::remove_if(result.begin(), result.end(),
                     [&](auto& r) { return connected_.count(r.id) == 0; }),
      result.end());
  // Whoever claims more samples for no later step is not ahead.
  if (!result.empty() && result.front().step <= own_.step)
    result.clear();
  if (result.empty()) {
    behind_since_.reset();
    return {};
  }
  if (group_may_still_form(result.front().step))
    return {};
  // Each holds a state of its own: one gives all of it.
  auto chance = mix(mix(seed_of(config_.self), own_.step), ++fetches_);
  return {result[chance % result.size()]};
}

// ---- why
// --------------------------------------------------------------------------------

std::pair<std::string, std::string>
conductor_state::way_of_averaging(const group_contract& contract) const {
  const auto most = std::to_string(settings().group_size);
  const auto members = std::to_string(
      std::count_if(contract.members.begin(), contract.members.end(),
                    [](auto& m) { return m.role == role::trainer; }));
  if (!redraws()) {
    std::uint64_t contributors = with_contributors().contributors;
    for (auto& x : contract.members)
      if (auto r = reports_.find(x.who.id); r != reports_.end())
        contributors += r->second.contributors;
    if (contributors == 0)
      return {"one group", members + " trainers fit into a group of " + most};
    return {"two levels", std::to_string(contributors)
                              + " trainers contribute through the " + members
                              + " of a group of at most " + most};
  }
  const auto known = known_trainers().size();
  if (known <= settings().group_size)
    return {"one group", std::to_string(known)
                             + " known trainers fit into a group of " + most
                             + ", so all draw the same one"};
  const moshpit_grid places{known, settings().group_size};
  std::string grid;
  for (auto side : places.sides())
    grid += (grid.empty() ? "" : "x") + std::to_string(side);
  return {"moshpit", members + " of " + std::to_string(known)
                         + " known trainers, on a grid of " + grid + ", "
                         + std::to_string(out_of_reach().size())
                         + " out of reach from here"};
}

} // namespace potluck
