/// A program of the organiser's that says yes or no to a claim: a school's
/// log-in, for instance.
#pragma once

#include <chrono>
#include <string>

#include "messages/expected.hpp"
#include "messages/ids.hpp"

namespace potluck {

/// Why no claim can be judged by the program of this path, in a sentence, since
/// it is no executable file; empty: it is one.
std::string problem_with_program(const std::string& program);

/// Runs the program of this path with the peer's id and the claim's words on
/// its standard input: the id in hex and a line's end, then the words as they
/// came. Exit status 0 is yes, any other one is no. One that cannot be started,
/// takes longer (it is killed) or dies by a signal has not judged: a failure,
/// whose sentence names the program and the reason. Blocks. Any thread.
expected<bool> ask_program(const std::string& program, const peer_id& peer,
                           const std::string& words,
                           std::chrono::milliseconds limit);

} // namespace potluck
