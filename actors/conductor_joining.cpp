/// The conductor's catching up with a longer history, and its waiting for
/// others who do.
#include "actors/conductor.hpp"

#include "runtime/config.hpp"

namespace potluck {

void conductor_state::catch_up_if_behind() {
  // Also when finished: an island that finished apart has another last state.
  auto free = stage_ == stage::accumulating
              || (stage_ == stage::finished && !over_ && !checkpoint_pending_);
  if (!free || !is_trainer() || own_.state.empty() || asked_for_)
    return;
  auto now = self_->clock().now();
  if (now < next_fetch_)
    return;
  if (tracker_->ahead(now).empty()) // Most of the time.
    return;
  auto donors = this->donors();
  if (donors.empty())
    return;
  reopen_gradient();
  samples_before_fetch_ = own_.samples;
  state_before_fetch_ = held_;
  uncounted_batch_ = false;
  fetch_began_ = now;
  stage_ = stage::fetching;
  tell_facts();
  announce(true);
  fetch_state order;
  order.goal.step = donors.front().step;
  order.goal.alone = redraws();
  if (!order.goal.alone)
    order.goal.state = donors.front().state;
  order.goal.own_step = own_.step;
  order.goal.own_state = held_;
  for (auto& x : donors)
    order.goal.donors.push_back(x.id);
  self_->send(wired_.state_keeper, order);
}

void conductor_state::tell_download(const fetch_result& r) {
  self_->send(
      wired_.observer,
      event{"state_download",
            {{"donor", r.donor.empty() ? std::string{} : short_name(r.donor)},
             {"step", own_.step},
             {"bytes", r.bytes},
             {"seconds", r.seconds},
             {"digest", to_string(held_)},
             {"samples_lost", samples_before_fetch_},
             {"donors", std::uint64_t{r.donors}},
             {"means", r.means},
             {"whole", r.whole_state}}});
}

void conductor_state::on(const state_fetched& x) {
  if (stage_ != stage::fetching)
    return;
  const auto& r = x.result;
  tell_download(r);
  if (r.own_history_lost || r.own_history_unknown)
    self_->send(
        wired_.observer,
        event{"island",
              {{"donor", short_name(r.donor)},
               {"step", own_.step},
               {"detail", std::string{r.own_history_lost
                                          ? "own steps were not part of the "
                                            "longer history and are lost"
                                          : "own steps were not found in the "
                                            "longer history"}}}});
  begin_step();
}

void conductor_state::on(const state_fetch_failed& x) {
  self_->send(wired_.observer,
              event{"fault",
                    {{"what", std::string{"state download failed"}},
                     {"detail", x.reason}}});
  if (stage_ != stage::fetching)
    return;
  auto now = self_->clock().now();
  next_fetch_ = now + limits::fetch_backoff;
  if (held_ != state_before_fetch_) {
    // Some of the way is gone all the same.
    fetch_result part;
    part.seconds = std::chrono::duration<double>(now - fetch_began_).count();
    tell_download(part);
    begin_step();
    return;
  }
  if (!x.put_aside)
    next_fetch_ += limits::fetch_backoff_share * (now - fetch_began_);
  if (uncounted_batch_) {
    own_.samples = 0;
    loss_sum_ = 0;
    self_->send(wired_.compute, drop_gradient{});
  }
  enter(finished_at_ ? stage::finished : stage::accumulating);
}

void conductor_state::on(const donor_distrusted& x) {
  self_->send(wired_.observer, event{"fault",
                                     {{"peer", short_name(x.donor)},
                                      {"what", std::string{"bad donor"}},
                                      {"detail", x.what}}});
  set_aside_longer(x.donor);
}

bool conductor_state::somebody_enters() {
  auto now = self_->clock().now();
  bool wait = false;
  for (auto& [id, r] : reports_) {
    bool enters = r.role == role::trainer && !r.contributes
                  && r.phase == phase::joining && !r.state.empty()
                  && r.step <= own_.step
                  && own_.step - r.step <= limits::entering_steps;
    if (!enters && !entrances_.count(id))
      continue;
    auto& x = entrances_[id];
    if (!enters && x.since) { // It is there.
      x.again = now + limits::entering_share * (now - *x.since);
      x.since.reset();
    }
    if (!enters || now < x.again)
      continue;
    if (!x.since)
      x.since = now;
    if (now - *x.since < round_patience()) {
      wait = true;
    } else {
      x.again = now + limits::entering_again;
      x.since.reset();
    }
  }
  return wait;
}

} // namespace potluck
