#include "actors/state_keeper.hpp"

#include <algorithm>

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
}

void state_keeper_state::on(const wiring& w) {
  wired_ = w;
}

void state_keeper_state::on(const letter& x) {
  if (auto piece = std::get_if<state_piece>(&x.content))
    read(x.from, *piece, x.body);
  else
    std::visit([&](const auto& y) { read(x.from, y); }, x.content);
}

void state_keeper_state::on(const state_changed& x) {
  gradient_values_ = x.gradient_values;
  current_ = x.state;
}

// ---- donor
// -------------------------------------------------------------------

void state_keeper_state::read(const peer_id& from, const state_request& x) {
  if (current_.empty()) {
    state_manifest none;
    none.token = x.token;
    self_->send(wired_.gateway, parcel{from, none, {}});
    return;
  }
  if (!snapshots_.empty() && snapshots_.back().digest() == current_) {
    offer(from, x.token);
    return;
  }
  askers_.emplace_back(from, x.token);
  ask_for_snapshot();
}

void state_keeper_state::ask_for_snapshot() {
  if (snapshot_asked_ || !wired_.compute)
    return;
  snapshot_asked_ = true;
  self_->send(wired_.compute, take_snapshot{});
}

void state_keeper_state::on(const snapshot_taken& x) {
  snapshot_asked_ = false;
  snapshots_.emplace_back(x.state, limits::piece_bytes);
  while (snapshots_.size() > limits::snapshots_kept)
    snapshots_.pop_front();
  auto askers = std::move(askers_);
  askers_.clear();
  for (auto& [joiner, token] : askers)
    offer(joiner, token);
  auto due = std::move(checkpoints_due_);
  checkpoints_due_.clear();
  if (due.empty() || !thread_)
    return;
  auto outbox = caf::actor_cast<state_keeper_actor>(self_);
  thread_->post([state = x.state, config = config_, outbox] {
    checkpoint_saved news{state->step, config.checkpoint_path, {}};
    auto saved = save_checkpoint(config.checkpoint_path, config.agreed, *state);
    if (!saved)
      news.problem = saved.error();
    caf::anon_send(outbox, news);
  });
}

void state_keeper_state::offer(const peer_id& joiner, std::uint64_t token) {
  self_->send(wired_.gateway,
              parcel{joiner, snapshots_.back().manifest(token), {}});
}

void state_keeper_state::read(const peer_id& from, const piece_request& x) {
  shared_bytes bytes;
  for (auto& snapshot : snapshots_)
    if (snapshot.digest() == x.state)
      bytes = snapshot.piece(x.piece);
  self_->send(wired_.gateway,
              parcel{from, state_piece{x.state, x.piece}, std::move(bytes)});
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

// ---- joiner
// ------------------------------------------------------------------

void state_keeper_state::on(const fetch_state& x) {
  fetching_ = x;
  transfer_.reset();
  began_ = self_->clock().now();
  self_->send(wired_.gateway, parcel{x.donor, state_request{++token_}, {}});
  arm();
}

void state_keeper_state::arm() {
  self_->delayed_send(self_, limits::piece_patience,
                      deadline_passed{++deadline_});
}

void state_keeper_state::on(const deadline_passed& x) {
  if (fetching_ && x.number == deadline_)
    fail("the donor was silent for too long");
}

void state_keeper_state::on(const peer_left& x) {
  askers_.erase(std::remove_if(askers_.begin(), askers_.end(),
                               [&](auto& a) { return a.first == x.id; }),
                askers_.end());
  if (fetching_ && fetching_->donor == x.id)
    fail("the donor left");
}

void state_keeper_state::read(const peer_id& from, const state_manifest& x) {
  if (!fetching_ || from != fetching_->donor || x.token != token_ || transfer_)
    return;
  if (!x.available) {
    fail("the donor has no state yet");
    return;
  }
  auto transfer = state_transfer::begin(x, gradient_values_);
  if (!transfer) {
    fail(transfer.error());
    return;
  }
  transfer_ = std::move(*transfer);
  arm();
  ask_for_pieces();
}

void state_keeper_state::ask_for_pieces() {
  for (auto piece : transfer_->next_requests(limits::pieces_in_flight))
    self_->send(wired_.gateway,
                parcel{fetching_->donor,
                       piece_request{transfer_->manifest().state, piece},
                       {}});
}

void state_keeper_state::read(const peer_id& from, const state_piece& x,
                              const shared_bytes& body) {
  if (!transfer_ || from != fetching_->donor
      || x.state != transfer_->manifest().state)
    return;
  if (body.size == 0) {
    fail("the donor no longer has that version");
    return;
  }
  switch (transfer_->offer(x.piece, body.data, body.size)) {
    case state_transfer::verdict::placed:
      arm();
      ask_for_pieces();
      break;
    case state_transfer::verdict::complete:
      finish();
      break;
    case state_transfer::verdict::repeated:
      break;
    case state_transfer::verdict::wrong_piece:
    case state_transfer::verdict::wrong_length:
      fail("the donor sent a piece that does not fit");
      break;
  }
}

void state_keeper_state::finish() {
  const auto manifest = transfer_->manifest();
  auto state = transfer_->finish();
  if (!state) {
    fail(state.error());
    return;
  }
  state_fetched news;
  news.donor = fetching_->donor;
  news.step = manifest.step;
  news.bytes = manifest.bytes;
  news.seconds
      = std::chrono::duration<double>(self_->clock().now() - began_).count();
  // recent[i] is the digest after step `manifest.step - i`.
  if (fetching_->own_step > 0 && fetching_->own_step <= manifest.step) {
    auto age = manifest.step - fetching_->own_step;
    news.own_history_lost = age < manifest.recent.size()
                            && manifest.recent[age] != fetching_->own_state;
  } else {
    news.own_history_lost = fetching_->own_step > manifest.step;
  }
  state->recent = manifest.recent;
  fetching_.reset();
  transfer_.reset();
  self_->send(wired_.compute,
              adopt_state{std::make_shared<training_state>(std::move(*state))});
  self_->send(wired_.conductor, news);
}

void state_keeper_state::fail(const std::string& reason) {
  auto donor = fetching_->donor;
  fetching_.reset();
  transfer_.reset();
  self_->send(wired_.conductor, state_fetch_failed{donor, reason});
}

state_keeper_actor::behavior_type
state_keeper(state_keeper_actor::stateful_pointer<state_keeper_state> self,
             state_keeper_config config) {
  return behave<state_keeper_actor, state_keeper_state>(self,
                                                        std::move(config));
}

} // namespace potluck
