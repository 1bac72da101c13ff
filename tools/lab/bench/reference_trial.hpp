/// The yardsticks of `potluck bench averaging`: all-reduces of others, which
/// know neither faults nor encryption, over sockets that send as ours do.
#pragma once

#include <cstdint>
#include <string>

#include "tools/lab/bench/averaging_trial.hpp"

namespace potluck::bench {

/// "gloo", its ring all-reduce; or "mpi", Open MPI's over TCP.
bool is_reference(const std::string& name);

/// Why this reference cannot be run, in a sentence; empty when it can.
/// @param program The path of `potluck`, beside which references lie.
std::string problem_with_reference(const std::string& name,
                                   const std::string& program);

/// @param directory Where the processes meet and report.
averaging_trial reference_trial(const std::string& name,
                                const std::string& program, std::uint32_t peers,
                                std::uint64_t values, std::uint64_t rounds,
                                const std::string& directory);

/// TCP's congestion control between processes of a benchmark, ours and a
/// reference's: "cubic".
std::string congestion_control_here();

} // namespace potluck::bench
