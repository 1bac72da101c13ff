#include "tools/lab/network/sim_host.hpp"

namespace potluck {

void sim_host::hand_over(duration now, bool takes_turns,
                         std::function<void()> what) {
  if (frozen_)
    frozen_mail_.push_back(std::move(what));
  else if (takes_turns)
    inbox_.emplace_back(now, std::move(what));
  else
    what();
}

std::deque<std::function<void()>> sim_host::thaw() {
  frozen_ = false;
  return std::exchange(frozen_mail_, {});
}

void sim_host::forget_mail() {
  frozen_ = false;
  frozen_mail_.clear();
  inbox_.clear();
  unread_.clear();
}

std::uint16_t sim_host::fresh_port() {
  constexpr std::uint16_t first = 40001, last = 65535;
  return last_port_ = last_port_ == last ? first : last_port_ + 1;
}

void sim_host::begin_turn(duration now) {
  in_turn_ = true;
  moment_ = now;
}

void sim_host::deliver(duration at) {
  moment_ = at;
  while (!inbox_.empty() && inbox_.front().first <= at) {
    auto what = std::move(inbox_.front().second);
    inbox_.pop_front();
    what();
  }
}

std::optional<duration> sim_host::mail() const {
  if (inbox_.empty())
    return std::nullopt;
  return inbox_.front().first;
}

void sim_host::ask(std::function<void()> what) {
  if (in_turn_)
    deeds_.push_back({moment_, std::move(what)});
  else
    what();
}

} // namespace potluck
