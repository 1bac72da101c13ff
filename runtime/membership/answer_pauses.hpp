/// Whom a charter was answered lately: nobody gets it again so soon, since an
/// answer costs what the charter weighs, and a question next to nothing. Pure.
#pragma once

#include <chrono>
#include <map>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class answer_pauses {
public:
  static constexpr duration pause = std::chrono::seconds{4};

  /// @returns Whether `who` may be answered now: then it counts as answered.
  bool answers(const peer_id& who, time_point now) {
    auto [at, fresh] = next_.try_emplace(who, now);
    if (!fresh && now < at->second)
      return false;
    at->second = now + pause;
    return true;
  }
  /// It is connected no longer.
  void left(const peer_id& who) {
    next_.erase(who);
  }

private:
  std::map<peer_id, time_point> next_; ///< Of those that are connected.
};

} // namespace potluck
