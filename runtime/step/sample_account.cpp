#include "runtime/step/sample_account.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Weight of the newest batch in the measured speed.
constexpr double speed_smoothing = 0.2;

/// Samples of the first batch, before any speed is known.
constexpr std::uint32_t first_batch = 2;

} // namespace

sample_account::sample_account(settings how)
    : how_(how), fixed_batch_(how.micro_batch != 0), number_(how.first_number) {
}

void sample_account::usual(std::uint32_t samples) {
  if (!fixed_batch_)
    how_.micro_batch = std::max(1u, samples);
}

double sample_account::mean_loss() const {
  return counted_.samples == 0
             ? 0
             : counted_.loss_sum / static_cast<double>(counted_.samples);
}

std::uint32_t sample_account::batch_size(duration longest) const {
  if (speed_ == 0)
    return std::min(how_.micro_batch, first_batch);
  auto fitting = speed_ * std::chrono::duration<double>(longest).count();
  return fitting >= how_.micro_batch
             ? how_.micro_batch
             : std::max(1u, static_cast<std::uint32_t>(fitting));
}

std::uint64_t sample_account::shard_samples() const {
  auto shards = std::uint64_t{how_.order.shards};
  auto shard = std::uint64_t{how_.order.shard};
  return shard < how_.target ? (how_.target - shard + shards - 1) / shards : 0;
}

batch_request sample_account::cut(std::uint64_t done, std::uint64_t most,
                                  std::uint64_t step, duration longest) const {
  batch_request request;
  request.order_seed = how_.order_seed;
  request.first_sample = next_sample_;
  if (how_.order.shared) {
    request.first_sample
        = step * how_.target + how_.order.shard + done * how_.order.shards;
    request.stride = how_.order.shards;
    auto mine = shard_samples();
    most = done < mine ? mine - done : 0;
  }
  request.samples = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(batch_size(longest), most));
  return request;
}

std::optional<compute_batch> sample_account::next(std::uint64_t step,
                                                  std::uint64_t quota,
                                                  duration longest) {
  batch_request request;
  if (!aside_) {
    request = cut(counted_.samples, quota, step, longest);
  } else if (step + 1 < how_.steps) { // Else there is no step behind this one.
    auto left = newer_allowed_ - std::min(newer_allowed_, newer_.samples);
    request = cut(newer_.samples, left, step + 1, longest);
  }
  if (request.samples == 0)
    return std::nullopt;
  running_ = true;
  return compute_batch{step, request, ++number_};
}

void sample_account::ended(const batch_done& x, bool expected) {
  running_ = false;
  if (!expected || x.number == void_number_)
    return;
  auto& where = aside_ ? newer_ : counted_;
  where.add({x.result.samples, x.result.loss_sum});
  next_sample_ += x.result.samples;
  if (x.result.samples == 0 || !(x.seconds > 0))
    return;
  auto speed = x.result.samples / x.seconds;
  speed_ = speed_ == 0 ? speed : speed_ + speed_smoothing * (speed - speed_);
}

std::optional<set_gradient_aside> sample_account::close(std::uint64_t total,
                                                        duration longest) {
  if (aside_)
    return std::nullopt;
  aside_ = true;
  newer_ = {};
  // As many again as in this step, scaled to the target batch; less what it has
  // beyond that after rounds that came to nothing. So there are never more than
  // two target batches in all gradients together.
  auto target = static_cast<double>(how_.target);
  auto own = static_cast<double>(counted_.samples);
  auto fair = own * target / std::max(static_cast<double>(total), target);
  newer_allowed_ = counted_.samples == 0 ? batch_size(longest)
                                         : static_cast<std::uint64_t>(std::ceil(
                                             std::max(0.0, 2 * fair - own)));
  return set_gradient_aside{};
}

std::optional<take_gradient_back> sample_account::reopen() {
  if (!aside_)
    return std::nullopt;
  aside_ = false;
  // In a shared order the newer samples have their place in the next step.
  auto keeps = !how_.order.shared;
  if (keeps)
    take_in(newer_);
  else if (running_)
    void_number_ = number_;
  return take_gradient_back{keeps};
}

drop_gradient sample_account::stepped_beside() {
  aside_ = false;
  counted_ = newer_;
  return drop_gradient{true};
}

void sample_account::clear(bool drops_batch) {
  aside_ = false;
  counted_ = {};
  if (drops_batch && running_)
    void_number_ = number_;
}

sample_account::count sample_account::give_away() {
  auto given = counted_;
  counted_ = {};
  return given;
}

void sample_account::reorder(std::uint64_t by) {
  if (!how_.order.shared)
    how_.order_seed = mix(how_.order_seed, by);
}

} // namespace potluck
