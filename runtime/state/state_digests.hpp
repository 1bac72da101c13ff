/// The digests that a state's digest is made of, for whoever changes the
/// vectors and has them in the cache: reading them once more costs as much as
/// half an optimizer step.
#pragma once

#include "messages/ids.hpp"

namespace potluck {

struct training_state;

/// Of moments that are not there: empty.
struct state_digests {
  digest parameters;
  digest first_moment;
  digest second_moment;
};

/// As `digest_of_state`, with these for its vectors.
digest digest_of_state(const training_state& state, const state_digests& of);

/// As `remember_digest`, likewise.
digest remember_digest(training_state& state, const state_digests& of);

} // namespace potluck
