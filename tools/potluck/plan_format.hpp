/// The JSON of `potluck plan`: peers in, a plan out; and its table for people.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/planning/strategy_plan.hpp"

namespace potluck::tools {

/// Fields in and out, for `--help`.
std::string plan_format_help();

/// Only what has the wrong shape is a failure here; figures are for `review`.
/// Unknown fields are failures, too: most are misspelt.
/// @param changes To be made first: "-ID" removes a peer; "+ID:FIELD=VALUE,..."
/// adds one; "ID.FIELD=VALUE", "FROM>TO=LIMIT" and "target_batch=VALUE",
/// "gradient_bytes=VALUE" change a figure.
expected<strategy_problem> read_problem(const std::string& json,
                                        const std::vector<std::string>& changes
                                        = {});

/// One object on one line. A number that is infinite or none is null.
/// @param seconds What planning took.
std::string to_json(const strategy_plan& plan,
                    const std::vector<input_finding>& findings, double seconds);

std::string to_text(const strategy_problem& problem, const strategy_plan& plan,
                    const std::vector<input_finding>& findings);

} // namespace potluck::tools
