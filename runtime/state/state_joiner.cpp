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
  goal_ = std::move(goal);
  busy_ = true;
  account_ = fetch_account{now};
  const auto way = version_.begin(goal_, now);
  preferred_relay relay{hub, false, true};
  if (way == version_choice::way::means) // In a chain it has means only.
    relay = {goal_.relay, reports_goal(goal_.relay)};
  swarm_.begin(goal_, relay, now);
  if (way != version_choice::way::resumed)
    swarm_.clear();
  ask_everybody(now);
  return done(now);
}

void state_joiner::ask_everybody(time_point now) {
  course_ = {version_.step(), version_.means_only()};
  note(swarm_.ask_for(version_.step(), version_.state(), version_.means_only(),
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

// ---- others -----------------------------------------------------------------

state_actions state_joiner::heard(const peer_id& peer, std::uint64_t step,
                                  const digest& state, time_point now) {
  if (distrusts(peer) || !busy_)
    return {};
  const auto* donor = swarm_.find(peer);
  if (goal_.alone) {
    // It reports how far it is, and no state that it could be held to.
    if (donor)
      version_.heard_of(step, now);
    return {};
  }
  // Those of another history have no say in ours.
  if ((donor && donor->said == donor_panel::answer::serves)
      || reports_goal(peer))
    swarm_.claim(peer, step, state);
  version_.heard_of(step, now);
  if (peer == swarm_.relay().id())
    swarm_.relay().reports();
  if (!donor && step >= version_.step() + version_.means_only())
    note(swarm_.add(peer, now));
  return done(now);
}

state_actions state_joiner::lost(const peer_id& peer, time_point now) {
  swarm_.lose(peer);
  return look(now);
}

state_actions state_joiner::read(const peer_id& from, const state_manifest& x,
                                 time_point now) {
  auto* donor = busy_ ? swarm_.find(from) : nullptr;
  if (!donor || donor->wish.token != x.token)
    return {};
  if (from == swarm_.relay().id()) {
    hear_relay(x, now);
  } else if (x.available) {
    if (!x.mean || version_.means_only())
      donor->said = donor_panel::answer::serves;
    vote(from, x, now);
  } else if (x.retry_ms > 0) {
    donor->said = donor_panel::answer::busy;
    donor->retry = now + std::chrono::milliseconds{x.retry_ms};
  } else {
    swarm_.declines(from, {x.step, x.offered});
    // One that has gone on since may decline; one that is where it said it was
    // lied.
    if (fetches_goal() && x.step <= goal_.step && reports_goal(from))
      ban(from, "it does not have the state that it reports", now);
  }
  return look(now);
}

void state_joiner::hear_relay(const state_manifest& x, time_point now) {
  auto& relay = swarm_.relay();
  const bool of_use = x.available && (x.mean || relay.is_hub());
  if (of_use) {
    if (x.mean ? x.step > course_.at() : version_.is(x.step, x.state))
      relay.lists({!x.mean, x.step}, listing_of(x));
  } else if (part() == 0
             && version_.follow(x.offered, goal_, swarm_.download().claims(),
                                now)) {
    swarm_.clear();
    ask_everybody(now);
  } else {
    note(swarm_.do_without_relay());
  }
}

void state_joiner::vote(const peer_id& from, const state_manifest& x,
                        time_point now) {
  if (x.mean ? x.step <= course_.at()
             : version_.means_only() || course_.with_trainer())
    return;
  if (x.mean || version_.is(x.step, x.state))
    note(swarm_.name(from, x, now));
  else
    ban(from, "it offers another version than it was asked for", now);
}

// ---- looking around ---------------------------------------------------------

state_actions state_joiner::look(time_point now) {
  if (!busy_)
    return done(now);
  note(swarm_.look(account_.age(now), now));
  decide(now);
  if (busy_)
    advance(now);
  if (busy_)
    note(swarm_.request_pieces(now));
  return done(now);
}

/// Whether this version, and what follows it, can still be had.
void state_joiner::decide(time_point now) {
  for (auto& id : swarm_.panel().silent(version_.reached(), now))
    if (reports_goal(id))
      ban(id, "it does not answer for the state that it reports", now);
    else
      swarm_.declines(id, {});
  version_choice::situation x;
  x.donors = swarm_.panel().count();
  x.loading = !course_.with_trainer();
  const auto& download = swarm_.download();
  x.pieces_here = download.progress({true, version_.step()}).first > 0;
  x.lied = fetches_goal() && !goal_.donors.empty()
           && std::all_of(goal_.donors.begin(), goal_.donors.end(),
                          [&](auto& id) { return distrusts(id); });
  auto advice = version_.judge(x, goal_, download.claims(), now);
  if (advice.what == version_choice::advice::change) {
    swarm_.clear();
    note(swarm_.do_without_relay());
    ask_everybody(now);
  } else if (advice.what != version_choice::advice::go_on) {
    fail(advice.reason, now, advice.what == version_choice::advice::set_aside);
  }
}

// ---- pieces -----------------------------------------------------------------

state_actions state_joiner::read(const peer_id& from, const state_piece& x,
                                 const shared_bytes& body, time_point now) {
  if (!busy_ || !swarm_.find(from))
    return {};
  account_.came(body.size);
  auto came = swarm_.read(from, x, body, now);
  note(std::move(came.actions));
  switch (came.what) {
    case blob_download::verdict::unwanted:
      return {};
    case blob_download::verdict::gone:
    case blob_download::verdict::wrong:
      return look(now);
    case blob_download::verdict::placed:
      account_.used(from, body.size);
      if (!came.blob.state && version_.means_only())
        actions_.push_back(coming_piece{came.blob.step, x.piece});
      if (came.blob.state && swarm_.download().complete(came.blob))
        finish_state(now);
      break;
    case blob_download::verdict::repeated:
      break;
  }
  // Deadlines are looked at now and then; here only what this piece changes.
  if (course_.with_trainer() && !course_.waits_for_trainer())
    advance(now);
  if (busy_)
    note(swarm_.request_pieces(now));
  return done(now);
}

void state_joiner::finish_state(time_point now) {
  auto came = swarm_.take_state({true, version_.step()}, now);
  note(std::move(came.actions));
  if (!came.state)
    return;
  account_.compare(goal_, version_.step(), came.list.recent);
  course_.await(version_.step(), came.list.state);
  actions_.push_back(
      state_job{std::make_shared<training_state>(std::move(*came.state))});
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
    if (auto list = swarm_.download().lists().chosen(key))
      note(swarm_.ban(list->donors,
                      "its mean did not lead to the state that it named", now));
    fail("a mean did not lead to the state that it should", now);
    return done(now);
  }
  if (step > version_.step()) {
    account_.mean_applied();
    swarm_.drop(key);
  }
  return look(now);
}

state_actions state_joiner::refused(const std::string& why, time_point now) {
  if (busy_ && course_.waits_for_trainer())
    fail(why, now);
  return done(now);
}

void state_joiner::advance(time_point now) {
  if (swarm_.has_too_many_means()) {
    fail("more steps passed than this peer can keep the means of; it starts "
         "again at a newer version",
         now);
    return;
  }
  const auto next = course_.at() + 1;
  auto view = swarm_.behind(course_.at());
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
      actions_.push_back(swarm_.download().job(next));
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
  auto begun
      = course_.with_trainer() ? std::nullopt : swarm_.download().begun();
  end();
  if (begun)
    version_.put_aside(*begun, now);
  else
    forget_version();
}

void state_joiner::end() {
  note(swarm_.dismiss());
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
  auto [placed, all] = swarm_.download().progress({true, version_.step()});
  return all == 0 ? 0 : static_cast<double>(placed) / all;
}

} // namespace potluck
