/// How the lab gets a process namespace of its own.
#pragma once

#include "messages/expected.hpp"

namespace potluck::netlab {

/// The first process of a new process namespace, which the kernel ends with all
/// that is inside when this process ends.
enum class lab_side { outside, inside };

struct lab_birth {
  lab_side side = lab_side::outside;
  int child = -1;    ///< Outside: the process inside.
  int lifeline = -1; ///< Inside: readable once the outside is gone.
};

/// Forks. With `namespaces` the inside may make network namespaces; fails with
/// a sentence where the system does not let us. Call with one thread only.
expected<lab_birth> become_lab(bool namespaces);

} // namespace potluck::netlab
