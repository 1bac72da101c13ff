/// The state keeper's joiner half.
#include "actors/state_keeper.hpp"

#include "runtime/config.hpp"

namespace potluck {

void state_keeper_state::on(const fetch_state& x) {
  if (parameters_ == 0) {
    // The conductor heard of our model first. Without its length every donor
    // would seem to lie.
    too_early_ = x;
    return;
  }
  auto goal = x.goal;
  goal.values = parameters_;
  goal.relay = relay_;
  auto now = self_->clock().now();
  next_show_ = now + limits::fetch_report_interval;
  joiner_->begin(goal, now);
  fetch();
}

void state_keeper_state::on(const report_heard& x) {
  const auto& r = x.report;
  joiner_->heard(r.id, r.step, r.state, self_->clock().now());
  fetch();
}

void state_keeper_state::read(const peer_id& from, const state_manifest& x) {
  joiner_->read(from, x, self_->clock().now());
  fetch();
}

void state_keeper_state::read(const peer_id& from, const state_piece& x,
                              const shared_bytes& body) {
  joiner_->read(from, x, body, self_->clock().now());
  fetch();
}

void state_keeper_state::fetch() {
  post(joiner_->take_letters());
  share_what_comes();
  for (auto& x : joiner_->take_faults())
    self_->send(wired_.conductor, donor_distrusted{x.peer, x.what});
  if (auto state = joiner_->take_state())
    self_->send(wired_.compute, adopt_state{state});
  if (auto job = joiner_->take_mean())
    self_->send(wired_.compute,
                apply_mean{job->step, job->samples, job->values});
  if (auto result = joiner_->take_result())
    self_->send(wired_.conductor, state_fetched{*result});
  if (auto failure = joiner_->take_failure())
    self_->send(wired_.conductor,
                state_fetch_failed{failure->reason, failure->put_aside});
  if (joiner_->busy())
    tick_soon();
}

/// Others may take it from here, piece by piece.
void state_keeper_state::share_what_comes() {
  auto now = self_->clock().now();
  for (auto& x : joiner_->take_listed())
    donor_->expects(std::move(x), now);
  for (auto& x : joiner_->take_placed())
    donor_->placed(x, now);
  if (!joiner_->busy())
    donor_->expects_no_more();
  post(donor_->take_letters());
}

void state_keeper_state::show_progress() {
  auto now = self_->clock().now();
  if (!joiner_->busy() || now < next_show_)
    return;
  next_show_ = now + limits::fetch_report_interval;
  self_->send(wired_.observer,
              event{"state_progress",
                    {{"step", joiner_->version()},
                     {"percent", 100 * joiner_->part()},
                     {"donors", std::uint64_t{joiner_->donors()}},
                     {"means", std::uint64_t{joiner_->means_held()}}}});
}

} // namespace potluck
