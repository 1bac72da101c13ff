/// What a peer fetches of the training state, and how that ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/ids.hpp"

namespace potluck {

struct fetch_goal {
  std::uint64_t step = 0; ///< Of the history that counts most,
  digest state; ///< and its state; empty: the next step's mean alone will do.
  std::vector<peer_id> donors; ///< Those that report it.
  std::uint64_t own_step = 0;
  digest own_state;         ///< Empty: none.
  std::uint64_t values = 0; ///< Parameters of the model,
  unsigned moments = 2;     ///< and what its optimizer keeps of each.
  /// The donor's state is like nobody else's (runtime/ways/moshpit): there is
  /// only one donor, nobody else's reports say what it holds, and what lies
  /// before its state is no history of ours.
  bool alone = false;
  /// A peer that holds what we hold and fetches the same mean, or a donor: its
  /// pieces are asked for there, and of the other donors only when it keeps us
  /// waiting. Its list is not believed without theirs. Empty: nobody.
  peer_id relay;
};

/// How a fetch ended well.
struct fetch_result {
  peer_id donor;           ///< Gave the most.
  std::size_t donors = 0;  ///< Gave anything.
  std::uint64_t step = 0;  ///< Now held.
  std::uint64_t means = 0; ///< Applied on top.
  bool whole_state = true; ///< False: the means were all that was fetched.
  std::uint64_t bytes = 0; ///< Of pieces that came.
  double seconds = 0;
  /// Own steps are not part of the history taken over,
  bool own_history_lost = false;
  /// or are so old that nobody remembers them.
  bool own_history_unknown = false;
};

/// A fetch that ended without the state.
struct fetch_failure {
  std::string reason;
  bool put_aside = false; ///< What has come is kept for the next fetch.
};

/// A donor that is trusted no more.
struct fetch_fault {
  peer_id peer;
  std::string what;
};

} // namespace potluck
