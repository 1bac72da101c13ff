#include "runtime/membership/silence_detector.hpp"

#include <algorithm>
#include <stdexcept>

namespace potluck {

silence_detector::silence_detector(time_point now)
    : silence_detector(now, settings{}) {
}

silence_detector::silence_detector(time_point now, settings how)
    : how_(how), last_heard_(now), last_stirred_(now), last_acknowledged_(now) {
  if (how.heartbeat <= duration::zero() || how.floor < how.heartbeat
      || how.cap < how.floor)
    throw std::invalid_argument(
        "a silence_detector needs 0 < heartbeat <= floor <= cap.");
}

void silence_detector::heard(time_point now) {
  if (now <= last_heard_)
    return;
  const auto gap = now - last_heard_;
  last_heard_ = now;
  // The frames of one burst arrive close together and say nothing about how
  // long the peer is silent between bursts.
  if (gap >= how_.heartbeat / 4)
    gaps_.add(gap);
}

void silence_detector::stirred(time_point now) {
  last_stirred_ = std::max(last_stirred_, now);
}

void silence_detector::round_trip(duration taken) {
  round_trips_.add(taken);
}

void silence_detector::acknowledged(time_point now) {
  last_acknowledged_ = std::max(last_acknowledged_, now);
}

duration silence_detector::patience() const {
  const auto answers = round_trips_.count() >= observed_durations::enough;
  // A busy line has no gaps to speak of; that it answers says enough.
  auto longest = answers && gaps_.count() < observed_durations::enough
                     ? how_.floor
                     : gaps_.deadline(how_.floor, how_.cap);
  // The next sign of life may be the answer to a heartbeat not yet sent, and a
  // packet of it may get lost: TCP notices that after a round trip or more
  // (RFC 6298), and holds back what came behind.
  if (answers) {
    const auto answer = how_.heartbeat
                        + 2 * round_trips_.deadline(duration::zero(), how_.cap);
    longest = std::max(longest, std::min(answer, how_.cap));
  }
  return longest;
}

time_point silence_detector::deadline() const {
  const auto longest = patience();
  const auto said = std::max(last_heard_, last_stirred_);
  return std::max(said + longest,
                  std::min(last_acknowledged_ + longest, said + how_.cap));
}

bool silence_detector::suspicious(time_point now) const {
  // Most looks end here: deadlines are medians of many durations.
  const auto said = std::max(last_heard_, last_stirred_);
  return now - said >= how_.floor && now >= deadline();
}

} // namespace potluck
