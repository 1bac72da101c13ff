/// Of which runs a bootstrap keeps the history, where trainers of more runs are
/// connected than it has places for.
///
/// A name of a run costs nothing, addresses and connections do. So prefixes of
/// addresses take turns, each with its run that has most trainers here; of
/// equal ones that which has been here longest. A run counts where the fewest
/// others do of the prefixes that its trainers come from. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

class run_places {
public:
  using trainers = std::map<peer_id, std::string>; ///< And their prefixes.

  /// @param most Runs that have a place.
  explicit run_places(std::size_t most) : most_(most) {
  }

  /// A trainer is connected. Its run gets a place at once if one is free.
  void joined(const peer_id& who, const std::string& run,
              const std::string& host);
  /// Its run keeps its place, and its prefix's turn, until `forget` or `deal`.
  void left(const peer_id& who);
  /// Nothing is kept of that run: without trainers it goes.
  void forget(const std::string& run);

  bool has(const std::string& run) const {
    return placed_.count(run) != 0;
  }
  /// Those of a run that are connected.
  const trainers& of(const std::string& run) const;

  struct change {
    std::vector<std::string> gained, lost;
  };
  /// Deals the places anew. To be called now and then, not for every peer that
  /// comes: it sorts all runs.
  change deal();

private:
  struct one {
    std::uint64_t number = 0; ///< In the order of their coming.
    trainers here;
    std::string last_prefix; ///< Of who came last.
  };

  const std::size_t most_;
  std::map<std::string, one> runs_;
  std::map<peer_id, std::string> where_; ///< Run of each trainer.
  std::set<std::string> placed_;
  std::uint64_t come_ = 0;
};

} // namespace potluck
