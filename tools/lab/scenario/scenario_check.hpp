/// What must hold between the fields of a scenario. Private to this folder.
#pragma once

#include "tools/lab/scenario/scenario.hpp"
#include "tools/lab/scenario/scenario_tree.hpp"

namespace potluck {

/// "entry 3" of a list, for the third.
std::string entry(std::size_t i);

/// Whether `x`, just read from `j`, makes sense as a whole.
complaint check(const scenario_value& j, const line_profile& x);
complaint check(const scenario_value& j, const expectation& x);
complaint check(const scenario_value& j, const peer_group& x);
/// Also resolves a group that stands alone into all of it.
complaint check(const scenario_value& j, fault_target& x);
complaint check(const scenario_value& j, const fault_rule& x);
complaint check(const scenario_value& j, const scenario& x);

} // namespace potluck
