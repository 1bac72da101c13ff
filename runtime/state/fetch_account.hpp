/// What one fetch has brought so far, and from whom.
#pragma once

#include <map>

#include "runtime/clock.hpp"
#include "runtime/state/fetch_goal.hpp"

namespace potluck {

class fetch_account {
public:
  fetch_account() = default;
  explicit fetch_account(time_point began) : began_(began) {
  }

  duration age(time_point now) const {
    return now - began_;
  }
  /// Bytes of a piece came, wanted or not.
  void came(std::uint64_t bytes) {
    result_.bytes += bytes;
  }
  void used(const peer_id& from, std::uint64_t bytes) {
    given_[from] += bytes;
  }
  void mean_applied() {
    ++result_.means;
  }
  /// The state after `version` is here.
  /// @param recent[i] The state after step `version - i`, as its donors say.
  void compare(const fetch_goal& own, std::uint64_t version,
               const std::vector<digest>& recent) {
    // A lone donor's states are its own; what we did went into others by
    // averaging.
    if (own.alone || own.own_step == 0)
      return;
    const auto age = version - own.own_step;
    const bool ahead = own.own_step > version;
    result_.own_history_unknown = !ahead && age >= recent.size();
    result_.own_history_lost
        = ahead || (age < recent.size() && recent[age] != own.own_state);
  }
  /// The fetch ends well, with the state after `step`.
  fetch_result close(std::uint64_t step, bool whole_state, time_point now) {
    for (auto& [id, bytes] : given_)
      if (result_.donor.empty() || bytes > given_.at(result_.donor))
        result_.donor = id;
    result_.donors = given_.size();
    result_.step = step;
    result_.whole_state = whole_state;
    result_.seconds = std::chrono::duration<double>(age(now)).count();
    return result_;
  }

private:
  time_point began_{};
  fetch_result result_;
  std::map<peer_id, std::uint64_t> given_; ///< Bytes of pieces that were used.
};

} // namespace potluck
