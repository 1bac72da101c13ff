/// How far apart peers of a Moshpit run may be.
#pragma once

#include <cstddef>

namespace potluck {

/// The furthest that the parameters of two peers may be apart at one step, as a
/// part of their length; README.md derives it. Holds where an epoch of rounds
/// mixes everybody's values, failures included that a second epoch makes up
/// for.
/// @param learning_rate The peak.
double most_moshpit_drift(std::size_t peers, std::size_t group_size,
                          double learning_rate);

} // namespace potluck
