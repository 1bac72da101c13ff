#include "runtime/uv/rate_gate.hpp"

#include <algorithm>
#include <limits>

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// A rate cap saves up so much of idle time: enough that a timer of a
/// millisecond keeps up with a gigabit, little enough that nobody notices.
constexpr auto cap_burst = 20ms;
/// But whole packets at least.
constexpr double least_cap_burst = 16 * 1024;

/// A turn of one connection is a part of the burst: small, so that others wait
/// little, but a packet at least, and no more than a read takes.
constexpr double turns_of_a_burst = 4;
constexpr double least_portion = 1500;
constexpr double largest_portion = 64 * 1024;

double burst_of(double rate) {
  const auto seconds = std::chrono::duration<double>(cap_burst).count();
  return std::max(least_cap_burst, rate * seconds);
}

time_point now() {
  return std::chrono::steady_clock::now();
}

} // namespace

rate_gate::rate_gate(uv_loop_t* loop, double rate,
                     std::function<void(connection_id)> turn)
    : loop_(loop), turn_(std::move(turn)),
      portion_(std::numeric_limits<std::size_t>::max()) {
  if (rate <= 0)
    return;
  bucket_.emplace(rate, burst_of(rate));
  portion_ = static_cast<std::size_t>(
      std::min(largest_portion,
               std::max(least_portion,
                        rate * std::chrono::duration<double>(cap_burst).count()
                            / turns_of_a_burst)));
}

std::size_t rate_gate::take(connection_id who, std::size_t wanted) {
  if (!bucket_)
    return wanted;
  const bool turn = served_ == who;
  served_ = 0;
  if (!turn && !line_.empty()) {
    join(who, false);
    return 0;
  }
  const auto bytes = std::min(wanted, portion_);
  const auto at = now();
  if (bucket_->available(at) < static_cast<double>(bytes)) {
    join(who, true);
    arm(bytes, at);
    return 0;
  }
  bucket_->spend(static_cast<double>(bytes));
  return bytes;
}

void rate_gate::give_back(std::size_t bytes) {
  if (bucket_)
    bucket_->spend(-static_cast<double>(bytes));
}

void rate_gate::overdraw(std::size_t bytes) {
  if (bucket_)
    bucket_->spend(static_cast<double>(bytes));
}

void rate_gate::join(connection_id who, bool first) {
  if (!in_line_.insert(who).second)
    return;
  if (first)
    line_.push_front(who);
  else
    line_.push_back(who);
}

void rate_gate::arm(std::size_t bytes, time_point now) {
  if (timer_)
    return;
  auto wait = bucket_->until(static_cast<double>(bytes), now);
  // Rounded up: a turn that comes early would only have to wait again.
  auto delay = std::chrono::duration_cast<std::chrono::milliseconds>(
      wait + std::chrono::microseconds{999});
  timer_.emplace(loop_, std::max(delay, std::chrono::milliseconds{1}),
                 [this] { serve(); });
}

void rate_gate::serve() {
  timer_.reset();
  // Whoever cannot be served in its turn arms the timer anew.
  while (!line_.empty() && !timer_) {
    served_ = line_.front();
    line_.pop_front();
    in_line_.erase(served_);
    turn_(served_);
    served_ = 0;
  }
}

void rate_gate::stop() {
  timer_.reset();
  line_.clear();
  in_line_.clear();
}

} // namespace potluck
