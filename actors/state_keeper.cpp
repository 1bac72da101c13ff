#include "actors/state_keeper.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/kept_states.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

void state_keeper_state::init(state_keeper_actor::pointer self,
                              state_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
  if (!config_.trains) {
    shelf_.emplace(config_.self,
                   state_shelf::bounds{
                       {limits::shelf_joiners, limits::joiner_bytes_in_flight,
                        0, limits::joiner_silence, 0},
                       {limits::joiner_bytes_in_flight, limits::piece_floor,
                        limits::piece_cap, limits::least_bytes_in_flight},
                       limits::donors_at_once},
                   config_.pieces.get());
    return;
  }
  if (config_.checkpoints)
    config_.checkpoints->begin(config_.agreed);
  if (config_.checkpoints || !config_.kept_folder.empty())
    thread_ = std::make_unique<worker>(config_.mode, writing_niceness);
  if (!config_.kept_folder.empty())
    thread_->post([kept = kept_, folder = config_.kept_folder] {
      kept->set(kept_states{folder, 0}.all());
    });
  state_donor::bounds give{
      {limits::joiners_served, limits::joiner_bytes_in_flight,
       limits::joiners_upload_share * config_.upload_bytes_per_second,
       limits::joiner_silence, limits::listeners_served},
      {limits::means_kept, limits::journal_steps, limits::journal_bytes},
      limits::snapshots_kept};
  donor_.emplace(give);
  donor_->keeps([kept = kept_](std::uint64_t step) { return kept->at(step); });
  state_joiner::bounds take{{limits::joiner_bytes_in_flight,
                             limits::piece_floor, limits::piece_cap,
                             limits::least_bytes_in_flight},
                            limits::donors_at_once,
                            limits::joiner_mean_bytes,
                            limits::joiner_means,
                            config_.agreed.settings().steps,
                            config_.guards};
  joiner_.emplace(config_.self, take);
}

// ---- what happens -----------------------------------------------------------

void state_keeper_state::on(const state_keeper_handles& w) {
  // A new conductor knows of no fetch; it will ask for one if it needs one.
  const bool forgotten = wired_.conductor && w.conductor != wired_.conductor;
  const bool other_compute = w.compute != wired_.compute;
  wired_ = w;
  if (other_compute) {
    compute_spoke_ = false;
    snapshot_asked_ = false; // Its predecessor answers no more.
  }
  if (other_compute || forgotten) {
    // The roll-back ended with either; a new conductor asks again.
    reads_kept_ = false;
    goes_back_.reset();
  }
  if (forgotten && joiner_)
    carry_out(joiner_->cancel(now()));
}

void state_keeper_state::on(const letter& x) {
  if (auto piece = std::get_if<state_piece>(&x.content))
    carry_out(shelf_ ? shelf_->read(x.from, *piece, x.body, now())
                     : joiner_->read(x.from, *piece, x.body, now()));
  else
    carry_out(
        std::visit([&](const auto& y) { return read(x.from, y); }, x.content));
}

state_actions state_keeper_state::read(const peer_id& from,
                                       const state_request& x) {
  return shelf_ ? shelf_->read(from, x, now()) : donor_->read(from, x, now());
}

state_actions state_keeper_state::read(const peer_id& from,
                                       const piece_request& x) {
  return shelf_ ? shelf_->read(from, x, now()) : donor_->read(from, x, now());
}

state_actions state_keeper_state::read(const peer_id& from,
                                       const state_done& x) {
  return shelf_ ? shelf_->read(from, x, now()) : donor_->read(from, x, now());
}

state_actions state_keeper_state::read(const peer_id& from,
                                       const state_manifest& x) {
  return shelf_ ? shelf_->read(from, x, now()) : joiner_->read(from, x, now());
}

void state_keeper_state::on(const peer_joined& x) {
  relayed_.erase(x.who.id);
  hubs_.erase(x.who.id);
  if (x.relayed)
    relayed_.insert(x.who.id);
  else if (x.role == role::auxiliary)
    hubs_.insert(x.who.id);
  if (donor_)
    donor_->reach(x.who.id, x.relayed, x.who.where.host);
  else
    shelf_->reach(x.who.id, x.relayed, x.who.where.host);
}

peer_id state_keeper_state::hub_for(const fetch_goal& goal) const {
  const bool all_relayed
      = std::all_of(goal.donors.begin(), goal.donors.end(),
                    [this](auto& id) { return relayed_.count(id) != 0; });
  // Others choose the same one.
  return goal.alone || !all_relayed || hubs_.empty() ? peer_id{}
                                                     : *hubs_.begin();
}

void state_keeper_state::on(const peer_left& x) {
  relayed_.erase(x.id);
  hubs_.erase(x.id);
  if (shelf_) {
    shelf_->parted(x.id);
    return carry_out(shelf_->lost(x.id, now()));
  }
  donor_->parted(x.id);
  if (x.id == relay_)
    relay_ = {};
  carry_out(donor_->lost(x.id, now()));
  carry_out(joiner_->lost(x.id, now()));
}

void state_keeper_state::on(const report_heard& x) {
  const auto& r = x.report;
  carry_out(shelf_ ? shelf_->heard(r.id, r.step, r.state, now())
                   : joiner_->heard(r.id, r.step, r.state, now()));
}

void state_keeper_state::on(const mean_applied& x) {
  carry_out(donor_->passed(x.mean, now()));
}

void state_keeper_state::on(const state_changed& x) {
  parameters_ = x.gradient_values;
  compute_spoke_ = true;
  if (auto order = std::exchange(too_early_, std::nullopt))
    on(*order);
  if (is_kept(x.step) || !checkpoints_due_.empty())
    ask_for_snapshot();
  if (is_gone_back_to(x)) {
    goes_back_.reset();
    fetch_result back;
    back.step = x.step;
    self_->send(wired_.conductor, state_fetched{back});
  }
  carry_out(donor_->holds(x.step, x.state, now()));
  carry_out(x.problem.empty() ? joiner_->applied(x.step, x.state, now())
                              : joiner_->refused(x.problem, now()));
}

void state_keeper_state::on(const fetch_state& x) {
  if (parameters_ == 0) {
    // The conductor heard of our model first. Without its length every donor
    // would seem to lie.
    too_early_ = x;
    return;
  }
  auto goal = x.goal;
  goal.values = parameters_;
  goal.moments = moments_kept(config_.agreed.settings());
  goal.relay = relay_;
  next_show_ = now() + limits::fetch_report_interval;
  carry_out(joiner_->begin(goal, now(), hub_for(goal)));
}

void state_keeper_state::on(const deadline_passed& x) {
  if (!alarm_.rings(x))
    return;
  if (shelf_)
    return carry_out(shelf_->look(now()));
  carry_out(donor_->look(now()));
  carry_out(joiner_->look(now()));
  show_progress();
}

void state_keeper_state::show_progress() {
  if (!joiner_->busy() || now() < next_show_)
    return;
  next_show_ = now() + limits::fetch_report_interval;
  self_->send(wired_.observer,
              event{"state_progress",
                    {{"step", joiner_->version()},
                     {"percent", 100 * joiner_->part()},
                     {"donors", std::uint64_t{joiner_->donors()}},
                     {"means", std::uint64_t{joiner_->means_held()}}}});
}

// ---- what is to be done -----------------------------------------------------

void state_keeper_state::carry_out(state_actions xs) {
  for (auto& x : xs)
    std::visit([this](auto& y) { carry_out(y); }, x);
}

void state_keeper_state::carry_out(state_letter& x) {
  post(self_, wired_.letters,
       parcel{x.to, std::move(x.content), std::move(x.body)});
}

void state_keeper_state::carry_out(look_again& x) {
  alarm_.set(self_, x.at);
}

void state_keeper_state::carry_out(copy_state&) {
  ask_for_snapshot();
}

// Others may take it from here, piece by piece.
void state_keeper_state::carry_out(coming_mean& x) {
  carry_out(donor_->expects(std::move(x), now()));
}

void state_keeper_state::carry_out(coming_piece& x) {
  carry_out(donor_->placed(x, now()));
}

void state_keeper_state::carry_out(nothing_more_comes&) {
  carry_out(donor_->expects_no_more(now()));
}

void state_keeper_state::carry_out(state_job& x) {
  self_->send(wired_.compute, adopt_state{std::move(x.state)});
}

void state_keeper_state::carry_out(mean_job& x) {
  self_->send(wired_.compute,
              apply_mean{x.step, x.samples, std::move(x.values)});
}

void state_keeper_state::carry_out(fetch_result& x) {
  self_->send(wired_.conductor, state_fetched{std::move(x)});
}

void state_keeper_state::carry_out(fetch_failure& x) {
  self_->send(wired_.conductor,
              state_fetch_failed{std::move(x.reason), x.put_aside});
}

void state_keeper_state::carry_out(fetch_fault& x) {
  self_->send(wired_.conductor, donor_distrusted{x.peer, std::move(x.what)});
}

// ---- snapshots and checkpoints ----------------------------------------------

void state_keeper_state::ask_for_snapshot() {
  // One that has not spoken yet may not know whom to answer.
  if (snapshot_asked_ || !wired_.compute || !compute_spoke_)
    return;
  snapshot_asked_ = true;
  self_->send(wired_.compute, take_snapshot{});
}

void state_keeper_state::on(const snapshot_taken& x) {
  snapshot_asked_ = false;
  carry_out(donor_->copied(x.state, now()));
  keep(x.state);
  const auto due = std::exchange(checkpoints_due_, {});
  if (!due.empty())
    save_checkpoint_of(x.state);
}

void state_keeper_state::save_checkpoint_of(
    const std::shared_ptr<const training_state>& held) {
  auto outbox = caf::actor_cast<state_keeper_actor>(self_);
  thread_->post([state = held, files = config_.checkpoints, outbox] {
    auto done = files->save(*state);
    caf::anon_send(outbox, checkpoint_saved{state->step, std::move(done.path),
                                            std::move(done.problem)});
  });
}

void state_keeper_state::on(const save_checkpoint_now& x) {
  if (!config_.checkpoints)
    return;
  checkpoints_due_.push_back(x.step);
  ask_for_snapshot();
}

void state_keeper_state::on(const may_be_saved& x) {
  if (config_.checkpoints)
    config_.checkpoints->may_be_saved(x.state);
}

void state_keeper_state::on(const checkpoint_saved& x) {
  if (wired_.conductor)
    self_->send(wired_.conductor, x);
}

// ---- roll-backs -------------------------------------------------------------

bool state_keeper_state::is_kept(std::uint64_t step) const {
  return !config_.kept_folder.empty() && donor_ && step > 0
         && step % config_.agreed.settings().keep_every == 0;
}

void state_keeper_state::keep(
    const std::shared_ptr<const training_state>& state) {
  if (!is_kept(state->step))
    return;
  thread_->post(
      [state, config = config_, observer = wired_.observer, list = kept_] {
        const kept_states kept{config.kept_folder,
                               config.agreed.settings().keep_states};
        if (auto done = kept.keep(config.agreed, *state); !done && observer)
          caf::anon_send(observer, fault_news("state not kept", done.error()));
        list->set(kept.all());
      });
}

void state_keeper_state::on(const go_back& x) {
  if (!joiner_)
    return;
  carry_out(joiner_->cancel(now()));
  reads_kept_ = true;
  goes_back_.reset();
  if (config_.kept_folder.empty())
    return on(kept_state_read{nullptr, "no states are kept here"});
  thread_->post([to = x.to, folder = config_.kept_folder, list = kept_,
                 outbox = caf::actor_cast<state_keeper_actor>(self_)] {
    const kept_states kept{folder, 1};
    kept.give_up_after(to.step);
    list->set(kept.all());
    kept_state_read news;
    auto found = kept.find(to.step, to.state);
    if (found)
      news.state = std::make_shared<training_state>(std::move(*found));
    else
      news.problem = found.error();
    caf::anon_send(outbox, std::move(news));
  });
}

void state_keeper_state::on(const kept_state_read& x) {
  if (!std::exchange(reads_kept_, false))
    return; // Who asked for it is gone.
  if (!x.state)
    self_->send(wired_.observer,
                event{"notice",
                      {{"message", "The state to go back to comes from "
                                   "others: "
                                       + x.problem + "."}}});
  goes_back_.emplace();
  if (x.state) {
    goes_back_->step = x.state->step;
    if (!x.state->recent.empty())
      goes_back_->state = x.state->recent.front();
  }
  self_->send(wired_.compute, adopt_state{x.state});
}

bool state_keeper_state::is_gone_back_to(const state_changed& x) const {
  return goes_back_ && !x.applied && x.step == goes_back_->step
         && (goes_back_->state.empty() || x.state == goes_back_->state);
}

state_keeper_actor::behavior_type
state_keeper(state_keeper_actor::stateful_pointer<state_keeper_state> self,
             state_keeper_config config) {
  return behave<state_keeper_actor, state_keeper_state>(self,
                                                        std::move(config));
}

} // namespace potluck
