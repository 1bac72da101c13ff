#include "runtime/progress/speed_book.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/median.hpp"

namespace potluck {

namespace {

constexpr std::uint64_t least_part_of_batch = 8;
constexpr std::size_t least_for_median = 3;

/// Zero for what cannot be.
double known_speed(double x) {
  return std::isfinite(x) && x > 0 ? std::min(x, speed_book::highest_speed) : 0;
}

} // namespace

speed_book::speed_book(std::uint64_t target_batch, const progress_report& own,
                       duration elapsed)
    : target_batch_{target_batch},
      elapsed_{std::max(0.0, std::chrono::duration<double>(elapsed).count())},
      own_speed_{known_speed(own.samples_per_second)}, own_samples_{
                                                           own.samples} {
  if (own.role == role::trainer)
    add(own, true);
}

void speed_book::add(const progress_report& x, bool beside) {
  if (auto speed = known_speed(x.samples_per_second); speed > 0)
    speeds_.push_back(speed);
  if (beside)
    samples_.push_back(x.samples);
}

template <class T>
T speed_book::typical(const std::vector<T>& all, T own) const {
  const auto middle = lower_median(all);
  return all.size() < least_for_median ? std::max(own, middle) : middle;
}

double speed_book::most_speed() const {
  if (speeds_.empty())
    return highest_speed;
  return most_times_median * typical(speeds_, own_speed_);
}

std::uint64_t speed_book::most_samples() const {
  if (speeds_.empty())
    return target_batch_;
  const auto most = std::max(
      most_speed() * elapsed_,
      most_times_median * static_cast<double>(typical(samples_, own_samples_)));
  return std::max({std::uint64_t{1}, target_batch_ / least_part_of_batch,
                   static_cast<std::uint64_t>(std::min(most, most_possible))});
}

std::uint64_t speed_book::believable_samples() const {
  const auto most = std::max(target_batch_, most_samples());
  return most + std::min(most, UINT64_MAX - most);
}

} // namespace potluck
