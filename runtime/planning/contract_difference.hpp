/// What planners are told by two contracts, compared.
#pragma once

#include <string>

#include "messages/matchmaking.hpp"

namespace potluck {

/// Of everything in the contract that a plan follows from, and of nothing else.
digest plan_input_digest(const group_contract& contract);

/// Why the plan of one round's contract is another than that of the last one:
/// who joined or left, and whose line is said to have changed by a fifth or
/// more. A few clauses, for people: "peer 1a2b3c4d left; peer 5e6f7a8b uploads
/// 375 kB/s, not 750". Empty when nothing of that changed.
std::string plan_change(const group_contract& before,
                        const group_contract& now);

} // namespace potluck
