/// What a hostile machine makes of the frames that an honest program on it
/// sends: one forger for each manner in `misbehaviours()`.
#pragma once

#include "runtime/random.hpp"
#include "runtime/sim/sim_network.hpp"

namespace potluck {

/// @param manner One of `misbehaviours()`; throws std::invalid_argument else.
sim_network::forger make_forger(const std::string& manner, std::uint64_t seed);

} // namespace potluck
