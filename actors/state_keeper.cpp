#include "actors/state_keeper.hpp"

#include "actors/behavior.hpp"
#include "runtime/config.hpp"
#include "runtime/state/checkpoint.hpp"

namespace potluck {

void state_keeper_state::init(state_keeper_actor::pointer self,
                              state_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
  if (!config_.checkpoint_path.empty())
    thread_ = std::make_unique<worker>(config_.mode);
  state_donor::bounds give{
      {limits::joiners_served, limits::joiner_bytes_in_flight,
       limits::joiners_upload_share * config_.upload_bytes_per_second,
       limits::joiner_silence, limits::listeners_served},
      {limits::means_kept, limits::journal_steps, limits::journal_bytes},
      limits::snapshots_kept};
  donor_.emplace(give);
  state_joiner::bounds take{{limits::joiner_bytes_in_flight,
                             limits::piece_floor, limits::piece_cap,
                             limits::least_bytes_in_flight},
                            limits::donors_at_once,
                            limits::joiner_mean_bytes,
                            limits::joiner_means,
                            config_.agreed.settings().steps};
  joiner_.emplace(config_.self, take);
}

void state_keeper_state::on(const wiring& w) {
  // A new conductor knows of no fetch; it will ask for one if it needs one.
  if (wired_.conductor && w.conductor != wired_.conductor)
    joiner_->cancel(self_->clock().now());
  wired_ = w;
  fetch();
}

void state_keeper_state::on(const letter& x) {
  if (auto piece = std::get_if<state_piece>(&x.content))
    read(x.from, *piece, x.body);
  else
    std::visit([&](const auto& y) { read(x.from, y); }, x.content);
}

void state_keeper_state::on(const peer_left& x) {
  if (x.id == relay_)
    relay_ = {};
  donor_->lost(x.id);
  joiner_->lost(x.id, self_->clock().now());
  serve();
  fetch();
}

void state_keeper_state::on(const state_changed& x) {
  parameters_ = x.gradient_values;
  if (auto order = std::exchange(too_early_, std::nullopt))
    on(*order);
  auto now = self_->clock().now();
  donor_->holds(x.step, x.state, now);
  if (x.problem.empty())
    joiner_->applied(x.step, x.state, now);
  else
    joiner_->refused(x.problem, now);
  serve();
  fetch();
}

void state_keeper_state::post(std::vector<state_letter> letters) {
  for (auto& x : letters)
    self_->send(wired_.gateway,
                parcel{x.to, std::move(x.content), std::move(x.body)});
}

void state_keeper_state::tick_soon() {
  if (ticking_)
    return;
  ticking_ = true;
  self_->delayed_send(self_, limits::fetch_interval, tick{});
}

void state_keeper_state::on(const tick&) {
  ticking_ = false;
  auto now = self_->clock().now();
  donor_->look(now);
  joiner_->look(now);
  show_progress();
  serve();
  fetch();
}

// ---- snapshots and checkpoints ----------------------------------------------

void state_keeper_state::ask_for_snapshot() {
  if (snapshot_asked_ || !wired_.compute)
    return;
  snapshot_asked_ = true;
  self_->send(wired_.compute, take_snapshot{});
}

void state_keeper_state::on(const snapshot_taken& x) {
  snapshot_asked_ = false;
  donor_->copied(x.state, self_->clock().now());
  serve();
  auto due = std::move(checkpoints_due_);
  checkpoints_due_.clear();
  if (due.empty() || !thread_)
    return;
  auto outbox = caf::actor_cast<state_keeper_actor>(self_);
  thread_->post([state = x.state, config = config_, outbox] {
    checkpoint_saved news{state->step, config.checkpoint_path, {}};
    auto saved = save_checkpoint(config.checkpoint_path, config.agreed, *state,
                                 *config.where);
    if (!saved)
      news.problem = saved.error();
    caf::anon_send(outbox, news);
  });
}

void state_keeper_state::on(const save_checkpoint_now& x) {
  if (!thread_)
    return;
  checkpoints_due_.push_back(x.step);
  ask_for_snapshot();
}

void state_keeper_state::on(const checkpoint_saved& x) {
  if (wired_.conductor)
    self_->send(wired_.conductor, x);
}

state_keeper_actor::behavior_type
state_keeper(state_keeper_actor::stateful_pointer<state_keeper_state> self,
             state_keeper_config config) {
  return behave<state_keeper_actor, state_keeper_state>(self,
                                                        std::move(config));
}

} // namespace potluck
