/// The optimizer that a run's settings name.
#pragma once

#include <string>

#include "messages/expected.hpp"
#include "runtime/optimizer/optimizer.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

/// For a model of this layout. Fails with a sentence where a setting names a
/// tensor that it does not have.
expected<optimizer> make_optimizer(const run_settings& settings,
                                   const model_layout& layout,
                                   unsigned threads);

} // namespace potluck
