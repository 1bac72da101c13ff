/// One peer's letters: which are read, what is read of those that come too
/// early, and how long the peer is not heard then. Pure.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/message.hpp"
#include "runtime/strangers/late_letters.hpp"
#include "runtime/strangers/letter_allowance.hpp"
#include "runtime/strangers/letter_cost.hpp"

namespace potluck {

class letter_intake {
public:
  using verdict = letter_allowance::verdict;

  /// See `letter_allowance`.
  letter_intake(std::string host, std::shared_ptr<homes_letters> homes)
      : allowed_(std::move(host), std::move(homes)) {
  }

  /// A letter came. One that is dropped silences the peer from here on.
  verdict take(const message& x, bool trusted, time_point now) {
    const auto result = allowed_.take(cost_of(x, trusted), trusted, now);
    if (result == verdict::read)
      late_.read(x);
    if (result == verdict::dropped) {
      late_.keep(x);
      silenced_until_ = now + limits::letters_pause;
    }
    return result;
  }

  /// The peer is not to be read.
  bool silenced() const {
    return silenced_until_.has_value();
  }
  /// The earlier of `due` and the time at which it is to be heard again.
  time_point due_before(time_point due) const {
    return std::min(due, silenced_until_.value_or(due));
  }
  /// Whether it is to be heard again from now on; said once. What it said too
  /// early is in `late` then.
  bool is_heard_again(time_point now) {
    if (!silenced_until_ || now < *silenced_until_)
      return false;
    silenced_until_.reset();
    return true;
  }
  /// Letters that are to be read late, once.
  std::vector<message> late() {
    return late_.take();
  }

private:
  letter_allowance allowed_;
  late_letters late_; ///< Beyond that.
  std::optional<time_point> silenced_until_;
};

} // namespace potluck
