/// A call of an expert for code that waits.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "runtime/ports/expert_network.hpp"

namespace potluck {

/// The answer to come. The network answers exactly once, so it always comes.
inline std::future<expected<expert_reply>> begin_call(expert_network& network,
                                                      expert_call what) {
  auto answer = std::make_shared<std::promise<expected<expert_reply>>>();
  auto result = answer->get_future();
  network.call(std::move(what), [answer](expected<expert_reply> x) {
    answer->set_value(std::move(x)); // Throws when it is the second.
  });
  return result;
}

/// Calls and waits for the answer. Not on a thread that brings answers.
inline expected<expert_reply> blocking_call(expert_network& network,
                                            expert_call what) {
  return begin_call(network, std::move(what)).get();
}

} // namespace potluck
