#include "actors/history_keeper.hpp"

#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"

namespace potluck {

void history_keeper_state::init(history_keeper_actor::pointer self,
                                history_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
  if (config_.is_bootstrap)
    places_.emplace(config_.places);
  else
    begin(config_.own.run);
  if (config_.checkpoints)
    config_.checkpoints->proves(exchange_of(config_.own.run)->shown().steps());
  if (config_.own.keeps)
    self_->delayed_send(self_, limits::history_interval, tick{});
}

void history_keeper_state::begin(const std::string& run) {
  auto how = config_.own;
  how.run = run;
  runs_.emplace(run, history_exchange{std::move(how), (*config_.kept)[run]});
}

void history_keeper_state::keep(const std::string& run) {
  const auto& at = runs_.at(run);
  (*config_.kept)[run] = at.held();
  if (config_.checkpoints)
    config_.checkpoints->proves(at.shown().steps());
}

history_exchange* history_keeper_state::exchange_of(const std::string& run) {
  const auto found
      = runs_.find(run.empty() ? std::string{config_.own.run} : run);
  return found == runs_.end() ? nullptr : &found->second;
}

void history_keeper_state::on(const history_keeper_handles& w) {
  wired_ = w;
}

void history_keeper_state::on(const peer_joined& x) {
  if (x.role == role::expert || (x.role != role::bootstrap && x.run.empty()))
    return;
  if (config_.is_bootstrap) {
    if (x.role != role::trainer)
      return;
    places_->joined(x.who.id, x.run, x.who.where.host);
    if (runs_.count(x.run) == 0 && places_->has(x.run))
      begin(x.run);
  } else if (x.role != role::bootstrap && x.run != config_.own.run) {
    return;
  }
  const auto& run = config_.is_bootstrap ? x.run : config_.own.run;
  if (auto* at = exchange_of(run))
    carry_out(run, at->joined(x.who.id, x.role == role::trainer));
}

void history_keeper_state::on(const peer_left& x) {
  if (places_)
    places_->left(x.id);
  for (auto& run : runs_)
    run.second.left(x.id);
}

void history_keeper_state::on(const letter& x) {
  if (const auto* request = std::get_if<history_request>(&x.content)) {
    auto* at = exchange_of(request->run);
    post(self_, wired_.letters,
         parcel{x.from,
                at ? at->answer(x.from, *request)
                   : history_reply{request->token, request->run, {}},
                {}});
  } else if (const auto* reply = std::get_if<history_reply>(&x.content)) {
    const auto& run = reply->run.empty() ? config_.own.run : reply->run;
    if (auto* at = exchange_of(run))
      carry_out(run, at->told(x.from, *reply, now()));
  }
}

void history_keeper_state::on(const step_signed& x) {
  exchange_of(config_.own.run)->made(x.what, now());
  keep(config_.own.run);
}

void history_keeper_state::carry_out(const std::string& run,
                                     history_exchange::outcome x) {
  for (auto& [who, question] : x.questions)
    post(self_, wired_.letters, parcel{who, std::move(question), {}});
  if (x.changed)
    keep(run);
  if (!x.roots)
    return;
  if (const auto& held = runs_.at(run).held(); !held.empty())
    self_->send(wired_.observer,
                event{"history",
                      {{"step", held.newest().step},
                       {"since", held.steps().front().step},
                       {"makers", std::uint64_t{x.roots->size()}}}});
  if (wired_.conductor)
    self_->send(wired_.conductor, roots_known{std::move(*x.roots)});
}

void history_keeper_state::deal_places() {
  if (!places_)
    return;
  const auto change = places_->deal();
  for (const auto& run : change.lost) {
    config_.kept->erase(run);
    runs_.erase(run);
  }
  for (const auto& run : change.gained) {
    begin(run);
    auto& at = runs_.at(run);
    for (const auto& x : places_->of(run))
      carry_out(run, at.joined(x.first, true));
  }
}

void history_keeper_state::on(const tick&) {
  for (auto at = runs_.begin(); at != runs_.end();) {
    carry_out(at->first, at->second.look(now()));
    if (config_.is_bootstrap && !at->second.has_guests()
        && at->second.held().empty()) {
      places_->forget(at->first);
      config_.kept->erase(at->first);
      at = runs_.erase(at);
    } else {
      ++at;
    }
  }
  deal_places();
  self_->delayed_send(self_, limits::history_interval, tick{});
}

history_keeper_actor::behavior_type history_keeper(
    history_keeper_actor::stateful_pointer<history_keeper_state> self,
    history_keeper_config config) {
  return behave<history_keeper_actor, history_keeper_state>(self,
                                                            std::move(config));
}

} // namespace potluck
