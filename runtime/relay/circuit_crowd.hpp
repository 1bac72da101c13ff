/// Circuits by the home that asked for them, and which of them gives way to one
/// more.
///
/// Where there are too many, the oldest goes of the home that has most: whoever
/// brings the crowd pays for it. It goes only if its home has more than the
/// newcomer's would have then; so, unlike in a `crowd` of connections, a
/// newcomer may find no place. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "runtime/strangers/fullest_home.hpp"

namespace potluck {

/// @tparam Circuit What tells a circuit apart from others, in any order.
template <class Circuit>
class circuit_crowd {
public:
  /// From here on it is the newest. Does nothing where it is there already.
  void add(const Circuit& x, const std::string& home) {
    if (!where_.emplace(x, place{home, come_}).second)
      return;
    homes_[home].emplace(come_++, x);
  }
  /// Does nothing where there is none.
  void remove(const Circuit& x) {
    const auto at = where_.find(x);
    if (at == where_.end())
      return;
    const auto mine = homes_.find(at->second.home);
    mine->second.erase(at->second.number);
    if (mine->second.empty())
      homes_.erase(mine);
    where_.erase(at);
  }

  std::size_t size() const {
    return where_.size();
  }
  /// That a home has.
  std::size_t of(const std::string& home) const {
    const auto mine = homes_.find(home);
    return mine == homes_.end() ? 0 : mine->second.size();
  }
  /// The one that gives way to one more from there, if any does.
  std::optional<Circuit> gives_way_to(const std::string& home) const {
    const auto fullest = home_that_gives_way(
        homes_, of(home), [](const auto& circuits) { return circuits.size(); });
    if (fullest == homes_.end())
      return std::nullopt;
    return fullest->second.begin()->second;
  }

private:
  struct place {
    std::string home;
    std::uint64_t number = 0; ///< In the order of their coming.
  };

  std::map<std::string, std::map<std::uint64_t, Circuit>> homes_;
  std::map<Circuit, place> where_;
  std::uint64_t come_ = 0; ///< So far.
};

} // namespace potluck
