#include "runtime/state/donor_swarm.hpp"

#include <algorithm>
#include <utility>

#include "runtime/state/limits.hpp"

namespace potluck {

namespace {

template <class Actions>
void append(state_actions& to, Actions xs) {
  for (auto& x : xs)
    to.push_back(std::move(x));
}

} // namespace

// ---- a fetch ----------------------------------------------------------------

void donor_swarm::begin(const fetch_goal& goal, preferred_relay relay,
                        time_point now) {
  panel_.expire_distrust(now);
  values_ = goal.values;
  download_.begin(goal.values, goal.moments);
  if (!goal.alone)
    for (auto& id : goal.donors)
      download_.claim(id, goal.step, goal.state);
  if (panel_.distrusts(relay.id()))
    relay = {};
  relay.sent(now);
  panel_.begin(goal.donors, goal.step, std::move(relay));
}

state_actions donor_swarm::dismiss() {
  state_actions result;
  for (auto& id : panel_.dismiss()) {
    download_.leave(id);
    result.push_back(state_letter{id, state_done{}, {}});
  }
  download_.forget_donors();
  return result;
}

// ---- whom to ask ------------------------------------------------------------

state_actions donor_swarm::ask_for(std::uint64_t step, const digest& state,
                                   bool means_only, time_point now) {
  means_only_ = means_only;
  state_actions result;
  append(result, panel_.ask_for(step, state, means_only, now));
  return result;
}

state_actions donor_swarm::add(const peer_id& candidate, time_point now) {
  if (auto request = panel_.add(candidate, now))
    return {std::move(*request)};
  return {};
}

void donor_swarm::lose(const peer_id& who) {
  panel_.remove(who);
  download_.forget(who, false);
}

state_actions donor_swarm::ban(const std::set<peer_id>& peers,
                               const std::string& what, time_point now) {
  state_actions result;
  for (auto& id : std::set<peer_id>{peers}) {
    if (!panel_.find(id))
      continue;
    result.push_back(fetch_fault{id, what});
    result.push_back(state_letter{id, state_done{}, {}});
    panel_.distrust(id, now + limits::distrust);
    download_.forget(id, true);
  }
  return result;
}

state_actions donor_swarm::do_without_relay(bool as_donor) {
  auto id = panel_.release_relay(as_donor);
  if (id.empty())
    return {};
  download_.leave(id);
  return {state_letter{id, state_done{}, {}}};
}

// ---- what they say ----------------------------------------------------------

state_actions donor_swarm::name(const peer_id& from, const state_manifest& x,
                                time_point now) {
  state_actions result;
  auto named = download_.name(from, x, panel_.size(), now);
  if (named.coming && means_only_)
    result.push_back(std::move(*named.coming));
  append(result, ban(named.liars, named.lie, now));
  for (auto who = inventor(); who && panel_.find(*who); who = inventor()) {
    append(result,
           ban({*who}, "it lists means that most donors do not know of", now));
    download_.drop_unheld();
  }
  return result;
}

/// Donors that have to name a mean: half of those that serve.
std::size_t donor_swarm::votes() const {
  return std::max<std::size_t>((panel_.count().serving + 1) / 2, 1);
}

/// One that lists too many means that others do not know of, if any does.
std::optional<peer_id> donor_swarm::inventor() const {
  return download_.lists().alone_with(has_too_many_means()
                                          ? download_.means_known() / 2
                                          : limits::means_of_one_donor,
                                      votes());
}

donor_swarm::arrival donor_swarm::read(const peer_id& from,
                                       const state_piece& x,
                                       const shared_bytes& body,
                                       time_point now) {
  panel_.find(from)->arrived += body.size;
  const bool of_relay = from == panel_.relay().id();
  if (of_relay)
    panel_.relay().sent(now);
  const auto [verdict, key] = download_.read(from, x, body, now);
  arrival result{verdict, key, {}};
  if (verdict == blob_download::verdict::gone) {
    if (key.state)
      panel_.declines(from, {});
    if (of_relay)
      result.actions = do_without_relay();
  } else if (verdict == blob_download::verdict::wrong) {
    result.actions
        = ban({from}, "it sent a piece that is not what was listed", now);
  }
  return result;
}

// ---- looking around ---------------------------------------------------------

state_actions donor_swarm::look(duration age, time_point now) {
  state_actions result;
  auto& relay = panel_.relay();
  panel_.expire_distrust(now);
  append(result, panel_.look(now));
  for (auto& id : download_.late(now))
    if (id == relay.id())
      relay.was_late(now);
  if (relay.late() || relay.id().empty()) {
    append(result, panel_.ask_for_pieces(now));
  } else if (relay.is_donor() && panel_.size() == 1
             && age > limits::chain_patience) {
    // Nobody else says which list is right: then it is as good as any donor.
    append(result, do_without_relay(true));
    append(result, panel_.ask_for_pieces(now));
  }
  download_.drop_unheld(); // A mean as good as never heard of.
  if (download_.needs_others(relay, now)) {
    if (relay.is_hub()) // Else each mean would be waited for.
      append(result, do_without_relay());
    append(result, panel_.ask_for_pieces(now));
  }
  download_.add_holders(relay, panel_.answered(), now);
  return result;
}

state_actions donor_swarm::request_pieces(time_point now) {
  state_actions result;
  for (auto& [id, request] : download_.requests(now))
    if (const auto* donor = panel_.find(id)) {
      request.arrived = donor->arrived;
      result.push_back(state_letter{id, request, {}});
    }
  return result;
}

// ---- what has come ----------------------------------------------------------

donor_swarm::outcome donor_swarm::take_state(const blob_key& key,
                                             time_point now) {
  const auto list = *download_.lists().chosen(key);
  // Most may have gone to another history meanwhile: no fault of its donors.
  const bool believed = download_.believes(key);
  outcome result;
  result.list = list.manifest;
  result.state = download_.take_state(key);
  download_.drop(key);
  if (result.state)
    return result;
  if (believed)
    result.actions = ban(list.donors,
                         "its pieces do not make the state that it lists", now);
  for (auto& id : panel_.that(donor_panel::answer::serves))
    // For its list: another one is needed.
    result.actions.push_back(panel_.ask(id, now));
  return result;
}

mean_course::view donor_swarm::behind(std::uint64_t step) const {
  auto view = download_.behind(step, votes());
  view.asked = !panel_.that(donor_panel::answer::none).empty()
               || !panel_.that(donor_panel::answer::busy).empty();
  return view;
}

bool donor_swarm::has_too_many_means() const {
  const auto count = download_.means_known();
  return (count > limits::means_of_a_state
          && count * values_ * sizeof(float) > most_.mean_bytes)
         || count > most_.means;
}

} // namespace potluck
