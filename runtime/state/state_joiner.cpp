#include "runtime/state/state_joiner.hpp"

#include <algorithm>
#include <utility>

#include "runtime/state/limits.hpp"
#include "runtime/state/pieces.hpp"

namespace potluck {

// ---- beginning --------------------------------------------------------------

state_actions state_joiner::begin(fetch_goal goal, time_point now,
                                  const peer_id& hub) {
  if (busy_)
    end();
  panel_.expire_distrust(now);
  goal_ = std::move(goal);
  busy_ = true;
  account_ = fetch_account{now};
  download_.begin(goal_.values, goal_.moments);
  if (!goal_.alone)
    for (auto& id : goal_.donors)
      download_.claim(id, goal_.step, goal_.state);
  const auto way = version_.begin(goal_, now);
  preferred_relay relay; // In a chain it has means only.
  if (way == version_choice::way::means && !distrusts(goal_.relay))
    relay = {goal_.relay, reports_goal(goal_.relay)};
  else if (way != version_choice::way::means && !distrusts(hub))
    relay = {hub, false, true};
  relay.sent(now);
  panel_.begin(goal_.donors, goal_.step, relay);
  if (way != version_choice::way::resumed)
    download_.clear();
  ask_everybody(now);
  return done(now);
}

void state_joiner::ask_everybody(time_point now) {
  course_ = {version_.step(), version_.means_only()};
  send(panel_.ask_for(version_.step(), version_.state(), version_.means_only(),
                      now));
}

bool state_joiner::fetches_goal() const {
  return !goal_.state.empty() && version_.state() == goal_.state
         && version_.step() == goal_.step;
}

bool state_joiner::reports_goal(const peer_id& peer) const {
  return std::find(goal_.donors.begin(), goal_.donors.end(), peer)
         != goal_.donors.end();
}

void state_joiner::do_without_relay(bool as_donor) {
  auto id = panel_.release_relay(as_donor);
  if (id.empty())
    return;
  send({{id, state_done{}, {}}});
  download_.leave(id);
}

// ---- others -----------------------------------------------------------------

state_actions state_joiner::heard(const peer_id& peer, std::uint64_t step,
                                  const digest& state, time_point now) {
  if (distrusts(peer) || !busy_)
    return {};
  const auto* donor = panel_.find(peer);
  if (goal_.alone) {
    // It reports how far it is, and no state that it could be held to.
    if (donor)
      version_.heard_of(step, now);
    return {};
  }
  // Those of another history have no say in ours.
  if ((donor && donor->said == donor_panel::answer::serves)
      || reports_goal(peer))
    download_.claim(peer, step, state);
  version_.heard_of(step, now);
  if (peer == panel_.relay().id())
    panel_.relay().reports();
  if (!donor && step >= version_.step() + version_.means_only())
    if (auto request = panel_.add(peer, now))
      send({*request});
  return done(now);
}

state_actions state_joiner::lost(const peer_id& peer, time_point now) {
  panel_.remove(peer);
  download_.forget(peer, false);
  return look(now);
}

state_actions state_joiner::read(const peer_id& from, const state_manifest& x,
                                 time_point now) {
  auto* donor = busy_ ? panel_.find(from) : nullptr;
  if (!donor || donor->wish.token != x.token)
    return {};
  if (from == panel_.relay().id()) {
    const bool of_use = x.available && (x.mean || panel_.relay().is_hub());
    if (of_use) {
      if (x.mean ? x.step > course_.at() : version_.is(x.step, x.state))
        panel_.relay().lists({!x.mean, x.step}, listing_of(x));
    } else if (part() == 0
               && version_.follow(x.offered, goal_, download_.claims(), now)) {
      download_.clear();
      ask_everybody(now);
    } else {
      do_without_relay();
    }
  } else if (x.available) {
    if (!x.mean || version_.means_only())
      donor->said = donor_panel::answer::serves;
    vote(from, x, now);
  } else if (x.retry_ms > 0) {
    donor->said = donor_panel::answer::busy;
    donor->retry = now + std::chrono::milliseconds{x.retry_ms};
  } else {
    panel_.declines(from, {x.step, x.offered});
    // One that has gone on since may decline; one that is where it said it was
    // lied.
    if (fetches_goal() && x.step <= goal_.step && reports_goal(from))
      ban({from}, "it does not have the state that it reports", now);
  }
  return look(now);
}

void state_joiner::vote(const peer_id& from, const state_manifest& x,
                        time_point now) {
  if (x.mean ? x.step <= course_.at()
             : version_.means_only() || course_.with_trainer())
    return;
  if (!x.mean && !version_.is(x.step, x.state)) {
    ban({from}, "it offers another version than it was asked for", now);
    return;
  }
  auto named = download_.name(from, x, panel_.size(), now);
  if (named.coming && version_.means_only())
    actions_.push_back(std::move(*named.coming));
  ban(named.liars, named.lie, now);
  for (auto who = inventor(); who && panel_.find(*who); who = inventor()) {
    ban({*who}, "it lists means that most donors do not know of", now);
    download_.drop_unheld();
  }
}

/// Those of `peers` that were asked have lied.
void state_joiner::ban(const std::set<peer_id>& peers, const std::string& what,
                       time_point now) {
  for (auto& id : std::set<peer_id>{peers}) {
    if (!panel_.find(id))
      continue;
    actions_.push_back(fetch_fault{id, what});
    send({{id, state_done{}, {}}});
    panel_.distrust(id, now + limits::distrust);
    download_.forget(id, true);
  }
}

// ---- looking around ---------------------------------------------------------

state_actions state_joiner::look(time_point now) {
  if (!busy_)
    return done(now);
  panel_.expire_distrust(now);
  send(panel_.look(now));
  for (auto& id : download_.late(now))
    if (id == panel_.relay().id())
      panel_.relay().was_late(now);
  if (panel_.relay().late() || panel_.relay().id().empty()) {
    send(panel_.ask_for_pieces(now));
  } else if (panel_.relay().is_donor() && panel_.size() == 1
             && account_.age(now) > limits::chain_patience) {
    // Nobody else says which list is right: then it is as good as any donor.
    do_without_relay(true);
    send(panel_.ask_for_pieces(now));
  }
  download_.drop_unheld(); // A mean as good as never heard of.
  if (download_.needs_others(panel_.relay(), now)) {
    if (panel_.relay().is_hub()) // Else each mean would be waited for.
      do_without_relay();
    send(panel_.ask_for_pieces(now));
  }
  download_.add_holders(panel_.relay(), panel_.answered(), now);
  decide(now);
  if (busy_)
    advance(now);
  if (busy_)
    request_pieces(now);
  return done(now);
}

/// Whether this version, and what follows it, can still be had.
void state_joiner::decide(time_point now) {
  for (auto& id : panel_.silent(version_.reached(), now))
    if (reports_goal(id))
      ban({id}, "it does not answer for the state that it reports", now);
    else
      panel_.declines(id, {});
  version_choice::situation x;
  x.donors = panel_.count();
  x.loading = !course_.with_trainer();
  x.pieces_here = download_.progress({true, version_.step()}).first > 0;
  x.lied = fetches_goal() && !goal_.donors.empty()
           && std::all_of(goal_.donors.begin(), goal_.donors.end(),
                          [&](auto& id) { return distrusts(id); });
  auto advice = version_.judge(x, goal_, download_.claims(), now);
  if (advice.what == version_choice::advice::change) {
    download_.clear();
    do_without_relay();
    ask_everybody(now);
  } else if (advice.what != version_choice::advice::go_on) {
    fail(advice.reason, now, advice.what == version_choice::advice::set_aside);
  }
}

// ---- pieces -----------------------------------------------------------------

void state_joiner::request_pieces(time_point now) {
  for (auto& [id, request] : download_.requests(now))
    if (const auto* donor = panel_.find(id)) {
      request.arrived = donor->arrived;
      send({{id, request, {}}});
    }
}

state_actions state_joiner::read(const peer_id& from, const state_piece& x,
                                 const shared_bytes& body, time_point now) {
  auto* donor = busy_ ? panel_.find(from) : nullptr;
  if (!donor)
    return {};
  donor->arrived += body.size;
  account_.came(body.size);
  if (from == panel_.relay().id())
    panel_.relay().sent(now);
  auto [verdict, key] = download_.read(from, x, body, now);
  switch (verdict) {
    case blob_download::verdict::unwanted:
      return {};
    case blob_download::verdict::gone:
      if (key.state)
        panel_.declines(from, {});
      if (from == panel_.relay().id())
        do_without_relay();
      return look(now);
    case blob_download::verdict::wrong:
      ban({from}, "it sent a piece that is not what was listed", now);
      return look(now);
    case blob_download::verdict::placed:
      account_.used(from, body.size);
      if (!key.state && version_.means_only())
        actions_.push_back(coming_piece{key.step, x.piece});
      if (key.state && download_.complete(key))
        finish_state(now);
      break;
    case blob_download::verdict::repeated:
      break;
  }
  // Deadlines are looked at now and then; here only what this piece changes.
  if (course_.with_trainer() && !course_.waits_for_trainer())
    advance(now);
  if (busy_)
    request_pieces(now);
  return done(now);
}

void state_joiner::finish_state(time_point now) {
  const auto key = blob_key{true, version_.step()};
  const auto list = *download_.lists().chosen(key);
  // Most may have gone to another history meanwhile: no fault of its donors.
  const bool believed = download_.believes(key);
  auto state = download_.take_state(key);
  download_.drop(key);
  if (!state) {
    if (believed)
      ban(list.donors, "its pieces do not make the state that it lists", now);
    for (auto& id : panel_.that(donor_panel::answer::serves))
      send({panel_.ask(id, now)}); // For its list: another one is needed.
    return;
  }
  account_.compare(goal_, key.step, list.manifest.recent);
  course_.await(key.step, list.manifest.state);
  actions_.push_back(
      state_job{std::make_shared<training_state>(std::move(*state))});
}

// ---- what the trainer has ---------------------------------------------------

state_actions state_joiner::applied(std::uint64_t step, const digest& state,
                                    time_point now) {
  auto verdict
      = busy_ ? course_.applied(step, state) : mean_course::verdict::unasked;
  if (verdict == mean_course::verdict::unasked)
    return {};
  const auto key = blob_key{false, step};
  if (verdict == mean_course::verdict::wrong) {
    if (auto list = download_.lists().chosen(key))
      ban(list->donors, "its mean did not lead to the state that it named",
          now);
    fail("a mean did not lead to the state that it should", now);
    return done(now);
  }
  if (step > version_.step()) {
    account_.mean_applied();
    download_.drop(key);
  }
  return look(now);
}

state_actions state_joiner::refused(const std::string& why, time_point now) {
  if (busy_ && course_.waits_for_trainer())
    fail(why, now);
  return done(now);
}

void state_joiner::advance(time_point now) {
  if (too_many_means()) {
    fail("more steps passed than this peer can keep the means of; it starts "
         "again at a newer version",
         now);
    return;
  }
  const auto next = course_.at() + 1;
  auto view = download_.behind(course_.at(), votes());
  view.asked = !panel_.that(donor_panel::answer::none).empty()
               || !panel_.that(donor_panel::answer::busy).empty();
  view.expected = version_.means_only() && course_.at() < goal_.step;
  switch (course_.look(view)) {
    case mean_course::turn::wait:
      break;
    case mean_course::turn::stuck:
      fail("the mean of step " + std::to_string(next)
               + " can no longer be had; a newer version is fetched",
           now);
      break;
    case mean_course::turn::apply:
      actions_.push_back(download_.job(next));
      course_.await(next, std::get<mean_job>(actions_.back()).state);
      break;
    case mean_course::turn::level: {
      auto result = account_.close(course_.at(), !version_.means_only(), now);
      end();
      forget_version();
      actions_.push_back(std::move(result));
    }
  }
}

// ---- ending -----------------------------------------------------------------

void state_joiner::fail(const std::string& reason, time_point now, bool keep) {
  if (keep) {
    put_aside(now);
  } else {
    end();
    forget_version();
  }
  actions_.push_back(fetch_failure{reason, keep});
}

state_actions state_joiner::cancel(time_point now) {
  if (busy_)
    put_aside(now);
  return done(now);
}

void state_joiner::put_aside(time_point now) {
  auto begun = course_.with_trainer() ? std::nullopt : download_.begun();
  end();
  if (begun)
    version_.put_aside(*begun, now);
  else
    forget_version();
}

void state_joiner::end() {
  for (auto& id : panel_.dismiss()) {
    download_.leave(id);
    send({{id, state_done{}, {}}});
  }
  download_.forget_donors();
  busy_ = false;
  actions_.emplace_back(nothing_more_comes{});
}

state_actions state_joiner::done(time_point now) {
  if (busy_)
    actions_.push_back(look_again{now + limits::fetch_interval});
  return std::exchange(actions_, {});
}

double state_joiner::part() const {
  if (busy_ && course_.with_trainer())
    return 1;
  auto [placed, all] = download_.progress({true, version_.step()});
  return all == 0 ? 0 : static_cast<double>(placed) / all;
}

} // namespace potluck
