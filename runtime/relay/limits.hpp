/// What a hub carries for others at most, and why.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/ports/transport.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Bytes that each end of a circuit may have under way before the hub asks for
/// more: a second of the letters of the busiest pair, and all that the hub
/// holds of it.
constexpr std::uint32_t circuit_credit = 64 * 1024;
/// Credit is given back in so large pieces: a frame for each letter would
/// double the frames.
constexpr std::uint32_t credit_portion = 16 * 1024;
/// Bytes of a circuit in one frame: several find their way past each other.
constexpr std::size_t circuit_piece = 16 * 1024;
/// With less credit an encrypted end makes none: TLS's own words, which no
/// limit cuts, are shorter.
constexpr std::size_t least_circuit_piece = 4096;
/// What a frame costs beyond its bytes, in credit, budgets and memory, so that
/// tiny ones count, too.
constexpr std::uint32_t circuit_frame_cost = 256;

/// Circuits of one peer: to each of 63 members, by both sides at once, twice.
constexpr std::size_t circuits_a_peer = 256;
/// Between the same two peers: by both sides at once, twice.
constexpr std::size_t circuits_a_pair = 4;
/// Ends within one address prefix: 64 members of one school, each with a
/// circuit to each other. Half of all, so that no house fills a hub.
constexpr std::size_t ends_a_prefix = 8192;
/// Bytes that a hub holds for one line, while that does not take them: the
/// credit of circuits from 63 members.
constexpr std::size_t circuits_held_a_line = 64 * std::size_t{circuit_credit};
/// The part of a hub's circuits that peers within one prefix, and at one
/// address (64 bits of IPv6), may have asked for: 128 of a trainer's few at an
/// address, a school's 40 with three each.
constexpr std::size_t openers_prefix_part = 2, openers_home_part = 4;
/// And at least so many.
constexpr std::size_t openers_least = 64;
/// Circuits that one peer asks for: a group's members at once, then as many
/// peers as come and go in a large run.
constexpr double opens_at_once = 256;
constexpr double opens_per_second = 8;

/// Bytes per second and what a pause saves up: of a circuit (a joiner's state
/// of 70 MB in five minutes), and of all of one sender.
constexpr double circuit_rate = 256e3, circuit_burst = 1e6;
constexpr double sender_rate = 1e6, sender_burst = 4e6;
/// Of all senders within one address prefix, whatever their names: 120 MB a
/// minute.
constexpr double prefix_rate = 2e6, prefix_burst = 16e6;
/// Prefixes that nobody is connected from any more and whose use of that is
/// remembered, 200 bytes each: its peers would leave and come back else.
constexpr std::size_t prefixes_left = 4096;
/// A sender this far beyond its own loses the circuit: more than the credit of
/// circuits to 63 members, opened by both sides.
constexpr double sender_debt = 9e6;

/// What one hub carries in all.
struct hub_budget {
  double rate, burst;   ///< Bytes per second, and what a pause saves up.
  std::size_t circuits; ///< 300 bytes each, 64 KiB more each while both ends
                        ///< are busy.
  /// Bytes that no line has taken yet. Then the line that most is held for has
  /// to go.
  std::size_t held;
};
/// Of a machine that is one by trade: two thirds of the 100 Mbit/s of the
/// smallest that is for rent.
constexpr hub_budget usual_hub{8e6, 16e6, 8192, std::size_t{64} << 20};
/// Of a trainer with an open port, which has gradients to send: 2 Mbit/s, a
/// tenth of a home's uplink, and enough for the letters of 125 pairs.
constexpr hub_budget trainers_hub{250e3, 1e6, 512, std::size_t{8} << 20};

/// Between two looks at who gets credit back.
constexpr auto credit_interval = 50ms;

/// Of all that come to this peer, whose handshakes cost half a millisecond
/// each.
constexpr double opens_of_all = 64, opens_of_all_at_once = 512;

/// Circuits that others have opened to this peer over one line: of 63 members,
/// twice, since an end may notice late that one is over.
constexpr std::size_t circuits_a_line = 128;
/// The same over all lines: most connections stay direct ones. Beyond, one of
/// the home gives way that has most.
constexpr std::size_t circuits_here = most_connections / 4;
/// And from one address, as hubs see it: a hub that lies has `circuits_a_line`.
constexpr std::size_t circuits_of_a_home = circuits_here / 4;
/// Bytes that have come of frames above `small_frame_bytes` on all circuits:
/// beyond, the circuit ends that has brought most.
constexpr std::size_t circuits_large_frames = std::size_t{32} << 20;
/// One of which nobody has proven anything goes after so long.
constexpr auto circuit_patience = 10s;
/// Bytes that wait at an end before the other one counts as not reading.
constexpr std::size_t circuit_queue = std::size_t{32} << 20;
/// A circuit that a direct line has replaced still brings what waits: a full
/// queue takes 131 seconds at a circuit's rate.
constexpr auto circuit_drain = 150s;

} // namespace potluck::limits
