#include "runtime/outside/loop_account.hpp"

#include <algorithm>

#include "runtime/config.hpp"

namespace potluck {

namespace {

/// Weight of the newest batch in what is usual.
constexpr double smoothing = 0.3;
/// The loop may take so much longer than usual and is still waited for.
constexpr double slack = 1.5;

} // namespace

void loop_account::shows(std::uint64_t step, const digest& state) {
  const version x{step, state};
  if (newest_ && *newest_ == x)
    return;
  one_behind_ = newest_ && newest_->step + 1 == step;
  if (newest_)
    last_ = *newest_;
  newest_ = x;
}

void loop_account::takes(time_point now) {
  taken_ = newest_;
  began_ = now;
}

bool loop_account::counts() const {
  if (!newest_ || !taken_)
    return false;
  return *taken_ == *newest_ || (delayed_ && one_behind_ && *taken_ == last_);
}

void loop_account::measure(time_point now) {
  if (!began_)
    return;
  const auto took = std::chrono::duration<double>(now - *began_).count();
  usual_ = usual_ == 0 ? took : usual_ + smoothing * (took - usual_);
  began_ = now;
}

double loop_account::added(std::uint64_t samples, time_point now) {
  const auto began = began_.value_or(now);
  measure(now);
  samples_ += samples;
  return std::chrono::duration<double>(now - began).count();
}

void loop_account::dropped(std::uint64_t samples, time_point now) {
  measure(now);
  samples_ += samples;
  stale_ += samples;
}

duration loop_account::patience(time_point now) const {
  if (!began_ || usual_ == 0)
    return limits::loop_patience;
  using seconds = std::chrono::duration<double>;
  const auto elapsed = seconds{now - *began_}.count();
  const auto longest = seconds{limits::loop_wait}.count();
  const auto due
      = std::max(slack * usual_, seconds{limits::longest_batch}.count());
  if (usual_ - elapsed > longest || elapsed >= due)
    return limits::loop_patience;
  return std::max<duration>(limits::loop_patience,
                            std::chrono::duration_cast<duration>(
                                seconds{std::min(due - elapsed, longest)}));
}

} // namespace potluck
