/// The few limits and durations that several folders share, each with its unit
/// and its reason.
///
/// All others stand beside the decision that they bound: in its .cpp, in its
/// header where a test or another file needs them too, or in its folder's
/// limits.hpp. What a user may change is an option of the command line.
#pragma once

#include <chrono>
#include <cstddef>

namespace potluck::limits {

using namespace std::chrono_literals;

/// Bytes received on one connection and held, beyond which it is not read: it
/// lets who reads sleep for 10 ms at 1 Gbit/s. What members send to one that
/// has not begun its round lies here, from each of them.
constexpr std::size_t unread_bytes = std::size_t{1} << 20;
/// It is read again at this share of that: above what its sender's parts may
/// keep while they wait for others' (runtime/averaging/value_pool.hpp), or two
/// that are not read could wait for each other.
constexpr double read_on_share = 0.75;

/// Floor and cap of the deadlines of a round, around what was observed. The
/// floor lets a loaded machine stall a moment; the cap is what a person waits.
constexpr auto round_floor = 2s;
constexpr auto round_cap = 120s;
/// Before any round was observed: several round trips of the slowest line and a
/// model's worth of parts. Doubled when a round ran into it.
constexpr auto first_round_patience = 15s;

/// A batch is cut so that it takes no longer: an invited peer answers when its
/// batch is done, and the others wait for that.
constexpr auto longest_batch = 500ms;
/// A leader waits no longer than this for an answer: nobody may hold everybody
/// up. A follower waits so long for its leader's contract, since it cannot know
/// how long the leader waits for the slowest; that a leader is gone its session
/// says much earlier.
constexpr auto answer_cap = 30s;
/// Extra patience of a follower behind its leader's, so that the leader speaks
/// first.
constexpr auto follower_grace = 1s;

} // namespace potluck::limits
