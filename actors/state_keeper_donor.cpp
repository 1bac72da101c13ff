/// The state keeper's donor half.
#include "actors/state_keeper.hpp"

#include <algorithm>

namespace potluck {

void state_keeper_state::read(const peer_id& from, const state_request& x) {
  donor_->read(from, x, self_->clock().now());
  serve();
}

void state_keeper_state::read(const peer_id& from, const piece_request& x) {
  donor_->read(from, x, self_->clock().now());
  serve();
}

void state_keeper_state::read(const peer_id& from, const state_done& x) {
  donor_->read(from, x);
  serve();
}

void state_keeper_state::on(const mean_applied& x) {
  donor_->passed(x.mean, self_->clock().now());
  serve();
}

void state_keeper_state::on(const deadline_passed& x) {
  if (x.number != deadline_)
    return;
  alarm_.reset();
  donor_->look(self_->clock().now());
  serve();
}

void state_keeper_state::serve() {
  post(donor_->take_letters());
  if (donor_->wants_copy())
    ask_for_snapshot();
  if (donor_->budget().joiners() > 0)
    tick_soon();
  auto wake = donor_->wake();
  if (!wake || (alarm_ && *alarm_ <= *wake))
    return; // The alarm that is set comes first, and looks again.
  alarm_ = wake;
  self_->delayed_send(
      self_, std::max(duration{0}, duration{*wake - self_->clock().now()}),
      deadline_passed{++deadline_});
}

} // namespace potluck
