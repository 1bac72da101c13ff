#include "runtime/experts/quorum.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace potluck {

quorum::quorum(settings how, std::size_t samples,
               std::vector<std::vector<std::uint32_t>> calls, time_point now)
    : how_(how), start_(now), calls_(std::move(calls)), ended_(calls_.size()),
      samples_(samples) {
  if (how_.k_min == 0)
    throw std::invalid_argument("A quorum needs at least one: k_min > 0.");
  for (const auto& call : calls_)
    for (auto sample : call) {
      if (sample >= samples)
        throw std::invalid_argument("A call has a sample that there is not.");
      ++samples_[sample].open;
    }
}

bool quorum::close(std::size_t call) {
  if (call >= calls_.size() || ended_[call])
    return false;
  ended_[call] = true;
  for (auto sample : calls_[call])
    --samples_[sample].open;
  return true;
}

quorum::verdict quorum::answered(std::size_t call, time_point now) {
  if (!close(call))
    return verdict::unknown;
  for (auto sample : calls_[call])
    if (++samples_[sample].answers == how_.k_min)
      samples_[sample].enough_since = now;
  return verdict::taken;
}

quorum::verdict quorum::failed(std::size_t call) {
  return close(call) ? verdict::taken : verdict::unknown;
}

time_point quorum::deadline() const {
  auto last = start_;
  for (const auto& x : samples_) {
    if (x.open == 0)
      continue;
    if (x.answers >= how_.k_min)
      last = std::max(last, x.enough_since + how_.timeout_after_k_min);
    else if (x.answers + x.open >= how_.k_min)
      return start_ + how_.patience;
  }
  return std::min(last, start_ + how_.patience);
}

} // namespace potluck
