/// The conductor's part in delayed updates: what has been accumulated is set
/// aside for its round, and the next step's samples are computed meanwhile.
#include "actors/conductor.hpp"

#include <algorithm>
#include <cmath>

namespace potluck {

void conductor_state::close_gradient() {
  if (aside_)
    return;
  aside_ = true;
  newer_samples_ = 0;
  newer_loss_ = 0;
  // As many again as in this step, scaled to the target batch; less what it has
  // beyond that after rounds that came to nothing. So there are never more than
  // two target batches in all gradients together.
  auto target
      = static_cast<double>(settings().target_batch + settings().reserve);
  tracker_->update_self(with_contributors());
  auto total
      = static_cast<double>(tracker_->total_samples(self_->clock().now()));
  auto own = static_cast<double>(own_.samples);
  auto fair = own * target / std::max(total, target);
  auto allowed = std::ceil(std::max(0.0, 2 * fair - own));
  newer_allowed_
      = own_.samples == 0 ? batch_size() : static_cast<std::uint64_t>(allowed);
  self_->send(wired_.compute, set_gradient_aside{});
}

void conductor_state::close_if_complete() {
  // After a group that came to nothing the others may have fewer samples than
  // they reported: then this step's are computed until the next group.
  if (delayed() && stage_ == stage::accumulating && averages() && !aside_
      && !batch_running_ && dissolved_ == 0
      && tracker_->target_reached(self_->clock().now()))
    close_gradient();
}

void conductor_state::reopen_gradient() {
  if (!aside_)
    return;
  aside_ = false;
  // In a shared order the newer samples have their place in the next step.
  auto keeps = !config_.order.shared;
  self_->send(wired_.compute, take_gradient_back{keeps});
  if (keeps) {
    own_.samples += newer_samples_;
    loss_sum_ += newer_loss_;
  } else if (batch_running_) {
    void_batch_ = batch_number_;
  }
}

void conductor_state::reopen_if_incomplete() {
  if (aside_ && stage_ == stage::accumulating
      && !tracker_->target_reached(self_->clock().now()))
    reopen_gradient();
}

bool conductor_state::computes_ahead() const {
  return aside_
         && (stage_ == stage::frozen || stage_ == stage::averaging
             || stage_ == stage::applying);
}

std::optional<batch_request> conductor_state::next_batch_ahead() const {
  if (own_.step + 1 >= settings().steps)
    return std::nullopt; // There is no next step.
  batch_request request;
  request.order_seed = order_seed_;
  auto allowed = newer_allowed_;
  if (config_.order.shared) {
    auto target = settings().target_batch + settings().reserve;
    auto shards = std::uint64_t{config_.order.shards};
    auto shard = std::uint64_t{config_.order.shard};
    allowed = shard < target ? (target - shard + shards - 1) / shards : 0;
    request.first_sample
        = (own_.step + 1) * target + shard + newer_samples_ * shards;
    request.stride = config_.order.shards;
  } else {
    request.first_sample = next_sample_;
  }
  if (newer_samples_ >= allowed)
    return std::nullopt;
  request.samples = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(batch_size(), allowed - newer_samples_));
  return request;
}

void conductor_state::count_from_here() {
  auto goes_on = aside_ && stage_ == stage::applying;
  own_.samples = goes_on ? newer_samples_ : 0;
  loss_sum_ = goes_on ? newer_loss_ : 0;
  if (goes_on) {
    self_->send(wired_.compute, drop_gradient{true});
  } else if (delayed() && stage_ != stage::fetching
             && stage_ != stage::starting) {
    // A predecessor's round: nobody knows which samples were in it.
    self_->send(wired_.compute, drop_gradient{});
    if (batch_running_)
      void_batch_ = batch_number_;
  }
  aside_ = false;
}

} // namespace potluck
