/// Numbers and distributions in a file. Private to this folder and lines/.
#pragma once

#include "tools/lab/scenario/scenario.hpp"
#include "tools/lab/scenario/scenario_tree.hpp"
#include "tools/lab/scenario/scenario_values.hpp"

namespace potluck {

/// A number from `low` to `high`, with or without a unit.
complaint read_number(const scenario_value& j, measure kind, double low,
                      double high, double& out);

complaint read_whole(const scenario_value& j, double low, double high,
                     std::size_t& out);

/// A number, or {"exponential": mean}, {"uniform": [from, to]},
/// {"lognormal": [median, deviation of the logarithm]}.
complaint read_quantity(const scenario_value& j, measure kind, double low,
                        double high, quantity& out);

scenario_value write_number(measure kind, double x);
scenario_value write_quantity(measure kind, const quantity& x);

} // namespace potluck
