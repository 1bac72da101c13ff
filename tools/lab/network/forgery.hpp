/// What a hostile machine makes of the frames that an honest program on it
/// sends: one forger for each manner in `misbehaviours()`.
#pragma once

#include "runtime/random.hpp"
#include "tools/lab/network/sim_network.hpp"

namespace potluck {

/// A machine of manner `wrong_means` or `greedy` lies consistently, so that its
/// frames are what its program says: whoever runs that program has to bend the
/// means (`bent_mean`), or what its contracts count.
/// @param manner One of `misbehaviours()`; throws std::invalid_argument else.
sim_network::forger make_forger(const std::string& manner, std::uint64_t seed);

/// Added to every value of a mean by `wrong_means`.
constexpr float bent_mean = 1;

} // namespace potluck
