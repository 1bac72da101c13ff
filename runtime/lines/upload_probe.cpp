#include "runtime/lines/upload_probe.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// Under way is so many times what arrived in the last interval: more than
/// TCP's speed grows by in one of 100 ms on most ways.
constexpr std::uint64_t ahead = 4;

} // namespace

std::size_t upload_probe::begin() {
  sent_ = first_burst;
  return first_burst;
}

std::size_t upload_probe::observed(duration interval,
                                   std::uint64_t acknowledged) {
  if (over_)
    return 0;
  passed_ += interval;
  arrived_ = std::min(sent_, arrived_ + acknowledged);
  over_ = passed_ >= longest || sent_ >= budget;
  if (over_)
    return 0;
  auto wanted = std::max<std::uint64_t>(2 * first_burst, ahead * acknowledged);
  auto under_way = sent_ - arrived_;
  auto more = std::min(wanted - std::min(wanted, under_way), budget - sent_);
  sent_ += more;
  return static_cast<std::size_t>(more);
}

} // namespace potluck
