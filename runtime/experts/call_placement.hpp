/// To which host a call goes, and what it is asked.
#pragma once

#include <string>
#include <vector>

#include "messages/experts.hpp"
#include "runtime/experts/failing_hosts.hpp"
#include "runtime/ports/expert_network.hpp"

namespace potluck {

/// What is wrong with a call before anybody is asked; empty when nothing is.
std::string problem_with(const expert_call& x);

struct host_choice {
  const expert_announcement* host = nullptr; ///< One of those given, or none.
  std::string problem;                       ///< Why none.
};

/// Of the hosts that announce the expert, those that take such samples and have
/// not failed a moment ago; of several, the one that the others give way to.
/// Precondition: there is no problem with the call.
host_choice choose_host(const expert_call& x,
                        const std::vector<expert_announcement>& hosts,
                        const failing_hosts& failing, time_point now);

/// @param left How long the caller will still wait.
expert_request request_of(const expert_call& x, std::uint64_t number,
                          const expert_announcement& host, duration left);

} // namespace potluck
