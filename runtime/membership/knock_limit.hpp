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
  /// Whether it may be done now; then it counts as done.
  bool spend(const std::string& host, time_point now) {
    for (auto i = tried_.begin(); i != tried_.end();)
      i = now - i->second >= limits::reach_pause ? tried_.erase(i)
                                                 : std::next(i);
    return tried_.size() < limits::reach_tries
           && tried_.emplace(host, now).second;
  }

private:
  std::map<std::string, time_point> tried_; ///< When, lately.
};

} // namespace potluck
