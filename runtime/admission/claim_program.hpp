/// A program of the organiser's that says yes or no to a claim: a school's
/// log-in, for instance.
#pragma once

#include <chrono>
#include <string>

#include "messages/ids.hpp"

namespace potluck {

/// Runs PROGRAM with the peer's id and the claim's words on its standard input:
/// the id in hex and a line's end, then the words as they came. Exit status 0
/// is yes. Blocks; one that takes longer is killed, which is no. Any thread.
bool says_yes(const std::string& program, const peer_id& who,
              const std::string& words, std::chrono::milliseconds limit);

} // namespace potluck
