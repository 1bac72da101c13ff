/// Claims that wait for the organiser's program, which may take seconds for
/// each: every home has its turn, whatever another one sends.
///
/// Where no place is free, the newest claim of the home that has most gives way
/// to a home that has fewer. Who loses its place, or finds none, asks again.
/// Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "runtime/admission/authority_desk.hpp"

namespace potluck {

class vetting_queue {
public:
  struct bounds {
    std::size_t of_a_home, all; ///< Claims that wait.
  };

  explicit vetting_queue(const bounds& most) : most_(most) {
  }

  /// @param home Of whoever claims (`home_of`).
  /// @returns Whether it waits here now; a peer has one place.
  bool add(authority_desk::claim x, const std::string& home);
  /// The next one to ask about; the oldest of the home whose turn it is.
  std::optional<authority_desk::claim> next();

  /// The peer does not wait any more.
  void left(const peer_id& who);

  std::size_t size() const {
    return who_.size();
  }

private:
  using queue = std::deque<authority_desk::claim>;

  const bounds most_;
  std::map<std::string, queue> homes_; ///< None is empty.
  std::set<peer_id> who_;
  std::string last_; ///< The home that had its turn last.
};

} // namespace potluck
