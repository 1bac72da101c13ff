/// In which order the contributors of a cell pass a step's mean on to each
/// other, so that their sponsor sends it once and not to each of them.
///
/// Pure. README.md says what a chain is worth, and what happens when it breaks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "messages/contact.hpp"
#include "messages/progress.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Contributors that pass a mean on to each other, one after the other, at
/// most.
constexpr std::size_t chain_length = 32;
/// They do where their sponsor would send a mean to two of them for longer than
/// this: several times what a round trip between them takes.
constexpr auto chained_mean = 500ms;

} // namespace potluck::limits

namespace potluck {

/// Chains that bring a mean to so many contributors soonest: each is one more
/// that the sponsor sends it to, and long ones take long. At least what
/// `limits::chain_length` asks for.
/// @param seconds That the sponsor takes to send it to one.
std::size_t chains_for(std::size_t contributors, double seconds);

/// Who is next to a contributor in its chain.
struct chain_place {
  contact nearer;  ///< To the sponsor; empty: the sponsor itself.
  peer_id farther; ///< Empty: nobody.

  friend bool operator==(const chain_place& a, const chain_place& b) {
    return a.nearer == b.nearer && a.farther == b.farther;
  }
};

/// Chains (`chains_for`), the fastest uplinks first, since
/// nobody gets the mean sooner than those before it. The same contributors stay
/// in the same order while their uplinks stay within a factor of two. Whoever
/// cannot be dialled is in none.
/// @param contributors What they report of themselves.
/// @param mean_bytes As it travels. @param upload Of the sponsor, in bytes a
/// second; 0: not known.
/// @return None where the sponsor sends the mean to two in less than
/// `limits::chained_mean`.
std::map<peer_id, chain_place>
mean_chains(const std::vector<progress_report>& contributors,
            std::uint64_t mean_bytes, double upload);

} // namespace potluck
