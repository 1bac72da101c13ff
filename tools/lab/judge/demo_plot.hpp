/// Whether a demonstration showed what it is for: a kill that the others
/// survive, a late join, help by an auxiliary, and learning. Pure.
#pragma once

#include <vector>

#include "tools/lab/judge/run_record.hpp"

namespace potluck::tools {

/// Demands, beside what `judge` demands of every run:
/// - at least half of the steps were seen by two peers or more;
/// - those who finished saved the same final state;
/// - the loss fell by `least_fall` at least;
/// - one peer was killed, others noticed, and trained on;
/// - one trainer came late, downloaded the state, and took part;
/// - one auxiliary averaged.
std::vector<finding> judge_plot(const run_record& record);

/// Of the loss at the first step.
constexpr double least_fall = 0.25;

} // namespace potluck::tools
