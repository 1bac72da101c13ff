/// What strangers can make this peer do: every limit, with its unit and reason.
/// README.md says which code holds each, and which test shows it.
///
/// A stranger is whoever is no member of this peer's rounds. A *home* is what
/// one customer has: an IPv4 address, or 64 bits of IPv6. A *prefix* is 24 or
/// 48.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/ports/transport.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

// ---- connections

/// Connections that only own dials and members get: whoever knocks leaves them.
constexpr std::size_t connections_kept = 128;
/// Of strangers, in all. A bootstrap has hundreds of newcomers at a time.
constexpr std::size_t strangers_connected
    = most_connections - 2 * connections_kept;
/// Of one home: a school of 40 has four each, and some to spare. Of more the
/// oldest gives way: who stays becomes a member.
constexpr std::size_t strangers_of_a_home = 256;
/// Of one prefix: four such homes.
constexpr std::size_t strangers_of_a_prefix = 1024;

/// Came in and have not proven an id yet. Each holds 40 KiB for 10 s at most.
/// The oldest gives way, of the home that has most.
constexpr std::size_t unproven_connections = 256;
constexpr std::size_t unproven_of_a_home = 128;
constexpr std::size_t unproven_of_a_prefix = 192;
/// Handshakes a second, and saved up: each is half a millisecond with the
/// session that begins and ends. Without a place for one, the connection is
/// closed before it begins.
constexpr double handshakes_of_a_home = 100, handshakes_of_a_home_at_once = 512;
/// Of all homes together, beside those of a prefix that has few.
constexpr double handshakes_of_all = 200, handshakes_of_all_at_once = 1024;
constexpr double handshakes_of_a_prefix = 1, handshakes_of_a_prefix_at_once = 8;
/// A connection that ends so soon after its handshake costs its home as much as
/// so many more: who comes for nothing, again and again, is turned away before
/// the next one. Newcomers stay for six seconds.
constexpr auto fleeting = 2s;
constexpr double handshakes_of_fleeting = 4;
/// Bytes that come before an id is proven: certificates are below 2 KiB.
constexpr std::size_t bytes_before_proof = 8 * 1024;

// ---- memory

/// Read from a stranger at a time.
constexpr std::size_t strangers_portion = 64 * 1024;
/// Larger frames of strangers need room before they are read. Pieces of states
/// are smaller, as a rule; the connections of one home hold 20 MiB of these.
constexpr std::size_t small_frame_bytes = 80 * 1024;
/// Room for those above 1 MiB in all, and of one home: two of the largest, and
/// one. Only calls of experts are so large.
constexpr std::size_t large_frames_bytes = std::size_t{35} << 20;
constexpr std::size_t large_frames_of_a_home = std::size_t{17} << 20;
/// The same for the others: charters, and lists of a state's pieces.
constexpr std::size_t medium_frame_bytes = std::size_t{1} << 20;
constexpr std::size_t medium_frames_bytes = std::size_t{17} << 20;
constexpr std::size_t medium_frames_of_a_home = std::size_t{4} << 20;
/// While others wait for room, a frame must come at such a rate, after a grace,
/// or its connection ends: half of a slow home's uplink.
constexpr double large_frame_rate = 64 * 1024;
constexpr auto large_frame_grace = 10s;
/// Bytes of answers (frames without a body) that wait for a stranger, beside a
/// batch that is being written, before its connection is not read: six look-ups
/// of the largest group. It is read again at half of that.
constexpr std::size_t unread_answers = 256 * 1024;
/// In all. Beyond, the connection gives way for which most waits, of the home
/// for which most waits.
constexpr std::size_t unread_answers_of_all = std::size_t{48} << 20;
/// The same with bodies: those that a hub sends to all its 32 joiners at a time
/// (runtime/state), and some.
constexpr std::size_t unread_with_bodies = std::size_t{136} << 20;

// ---- letters, by what they cost (letter_cost.hpp)

/// A second, and saved up, of one connection: a newcomer's look-ups, or the
/// reports of a run that makes hundreds of steps a second.
constexpr double letters_of_a_stranger = 400;
constexpr double letters_of_a_stranger_at_once = 8'000;
/// Of that, whatever others in its home send: what a newcomer needs to get in.
constexpr double letters_of_everybody = 5, letters_of_everybody_at_once = 100;
/// Of a home: a school of 40 that looks everything up at once. A unit is some
/// 50 us, so this is a tenth of a core.
constexpr double letters_of_a_home = 2'000, letters_of_a_home_at_once = 40'000;
/// Of all strangers, beside those of a prefix that sends few.
constexpr double letters_of_all = 2'000, letters_of_all_at_once = 40'000;
constexpr double letters_of_a_prefix = 40, letters_of_a_prefix_at_once = 1'000;
/// Of one that works with this peer: busy ones send some ten letters a second
/// and, when a slow line or a machine that stood still lets go of what it held,
/// a minute's worth at once.
constexpr double letters_of_a_partner = 2'000;
constexpr double letters_of_a_partner_at_once = 40'000;
/// Who sends more is not read for so long; what has come by then is dropped.
constexpr auto letters_pause = 500ms;
/// Dropped of one peer, until its session ends.
constexpr std::size_t letters_dropped = 20'000;

} // namespace potluck::limits
