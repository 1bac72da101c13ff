/// What the joiners of a donor wish for, and which of them have no answer yet.
///
/// Knows nothing of what the donor holds. Pure bookkeeping.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/ids.hpp"
#include "messages/state.hpp"

namespace potluck {

class joiner_wishes {
public:
  struct joiner {
    state_request wish;
    std::uint64_t means_told = 0; ///< Up to the mean of this step.
  };

  /// Waits for an answer from here on; it was no joiner before.
  const joiner& add(const peer_id& id, const state_request& wish);
  /// It got the version, or heard that there is none.
  void answered(const peer_id& id);
  /// It heard of the means up to this step's.
  void told(const peer_id& id, std::uint64_t step);
  void forget(const peer_id& id);

  const std::map<peer_id, joiner>& all() const {
    return joiners_;
  }
  /// Null when it is no joiner.
  const joiner* find(const peer_id& id) const;
  const std::set<peer_id>& unanswered() const {
    return unanswered_;
  }

  /// The first step whose state anybody began with; none: there is nobody.
  std::optional<std::uint64_t> earliest() const;
  /// Somebody waits for the state after that step.
  bool awaited(std::uint64_t step) const;
  /// The steps before this one whose states somebody waits for, to fetch them:
  /// not for the means alone, nor to listen.
  std::set<std::uint64_t> awaited_before(std::uint64_t step) const;
  /// The last one of all such steps; 0: there is none.
  std::uint64_t latest_awaited() const;
  /// Those whose version is that of this step, whether they have been answered
  /// or not.
  std::vector<peer_id> fetching(std::uint64_t step) const;
  /// Whether there are any.
  bool is_fetched(std::uint64_t step) const;

private:
  std::map<peer_id, joiner> joiners_;
  std::set<peer_id> unanswered_;       ///< Of them: few.
  std::multiset<std::uint64_t> steps_; ///< Of all wishes.
};

} // namespace potluck
