/// What a donor (`state_donor`) and a joiner (`state_joiner`) of the training
/// state want done: each of their calls answers with such actions, to be
/// carried out in their order.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "messages/message.hpp"
#include "runtime/clock.hpp"
#include "runtime/state/fetch_goal.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

/// Send this message to a connected peer.
struct state_letter {
  peer_id to;
  message content;
  shared_bytes body;
};

/// Call `look` by then; earlier calls of anything do no harm.
struct look_again {
  time_point at;
};

// ---- a donor's

/// Copy the state that the trainer holds now, and say so (`copied`). Repeated
/// with every call until then.
struct copy_state {};

// ---- a joiner's

/// This peer fetches a mean, by a list of pieces that it believes: others may
/// have it from here.
struct coming_mean {
  state_manifest manifest;
  /// Pieces are written into it as they come.
  std::shared_ptr<const std::vector<float>> values;
};
/// One more piece of such a mean is here.
struct coming_piece {
  std::uint64_t step = 0; ///< That its mean completes.
  std::uint32_t piece = 0;
};
/// The fetch is over: what has not come by now does not come.
struct nothing_more_comes {};

/// The trainer is to take this state over; `applied` answers it.
struct state_job {
  std::shared_ptr<training_state> state;
};
/// The trainer is to apply this mean, the only job until `applied` answers it.
struct mean_job {
  std::uint64_t step = 0;
  std::uint64_t samples = 0;
  digest state; ///< That it is said to lead to.
  std::shared_ptr<const std::vector<float>> values;
};

using state_action
    = std::variant<state_letter, look_again, copy_state, coming_mean,
                   coming_piece, nothing_more_comes, state_job, mean_job,
                   fetch_result, fetch_failure, fetch_fault>;
using state_actions = std::vector<state_action>;

} // namespace potluck
