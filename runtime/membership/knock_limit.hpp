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
  /// @param pause In which one host is dialled so often at most.
  /// @param most Dials in that time. @param each Of one host.
  explicit knock_limit(duration pause = limits::reach_pause,
                       std::size_t most = limits::reach_tries,
                       std::size_t each = 1)
      : pause_(pause), most_(most), each_(each) {
  }

  /// Whether it may be done now; then it counts as done.
  bool spend(const std::string& host, time_point now) {
    for (auto i = tried_.begin(); i != tried_.end();)
      i = now - i->second >= pause_ ? tried_.erase(i) : std::next(i);
    if (tried_.size() >= most_ || tried_.count(host) >= each_)
      return false;
    tried_.emplace(host, now);
    return true;
  }

private:
  duration pause_;
  std::size_t most_;
  std::size_t each_;
  std::multimap<std::string, time_point> tried_; ///< When, lately.
};

} // namespace potluck
