/// What a checkpoint says of its run's history, read as if a stranger showed
/// it.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/history/signed_steps.hpp"

namespace potluck {

/// The state that a checkpoint holds.
struct resumed_state {
  std::uint64_t step = 0;
  std::vector<digest> recent; ///< After the latest steps, newest first.
};

/// The steps that led to `held`, without forgeries and without those of other
/// runs; nothing, where the newest of them led elsewhere.
signed_history resumed_history(std::vector<signed_step> shown,
                               const digest& charter, const resumed_state& held,
                               const signatures& how);

} // namespace potluck
