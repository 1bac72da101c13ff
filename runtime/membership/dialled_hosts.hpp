/// Hosts that this peer has dialled: its router may let those in, and nobody
/// else (RFC 4787, 5: filtering).
#pragma once

#include <map>
#include <string>

#include "runtime/clock.hpp"
#include "runtime/dialable.hpp"

namespace potluck {

class dialled_hosts {
public:
  /// Routers forget an open connection after two hours and four minutes at the
  /// earliest (RFC 5382, 5); most do so sooner.
  static constexpr std::chrono::hours memory{3};
  /// From so many on, all count as dialled.
  static constexpr std::size_t most = 8192;

  void note(const std::string& host, time_point now) {
    if (at_.size() >= most)
      for (auto i = at_.begin(); i != at_.end();)
        i = now - i->second >= memory ? at_.erase(i) : std::next(i);
    if (at_.size() < most || at_.count(host) > 0)
      at_[host] = now;
  }
  /// Whether that it connects shows that others can: it was never dialled, or
  /// no router stands between it and us.
  bool proves_something(const std::string& host, time_point now) const {
    if (!is_public(host))
      return true;
    const auto i = at_.find(host);
    return at_.size() < most && (i == at_.end() || now - i->second >= memory);
  }

private:
  std::map<std::string, time_point> at_; ///< When, last.
};

} // namespace potluck
