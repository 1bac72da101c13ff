/// How often this peer dials a host because somebody asked it to: nobody makes
/// it knock all the time.
#pragma once

#include <map>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/membership/limits.hpp"

namespace potluck {

class knock_limit {
public:
  /// @param pause Between two dials of one host. @param most Hosts in that
  ///     time.
  explicit knock_limit(duration pause = limits::reach_pause,
                       std::size_t most = limits::reach_tries)
      : pause_(pause), most_(most) {
  }

  /// Whether it may be done now; then it counts as done.
  bool spend(const std::string& host, time_point now) {
    for (auto i = tried_.begin(); i != tried_.end();)
      i = now - i->second >= pause_ ? tried_.erase(i) : std::next(i);
    return tried_.size() < most_ && tried_.emplace(host, now).second;
  }

private:
  duration pause_;
  std::size_t most_;
  std::map<std::string, time_point> tried_; ///< When, lately.
};

} // namespace potluck
