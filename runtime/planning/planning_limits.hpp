/// The limits of planning, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck::limits {

/// Peers of one strategy problem: what the closed form plans in a fraction of a
/// second.
constexpr std::size_t planned_peers = 20'000;
/// Bytes or samples per second beyond which nothing is believed, and below
/// which it counts as nothing.
constexpr double planned_figure = 1e15;
constexpr double least_planned_figure = 1e-6;
/// The same for the target batch and the gradient, which only scale: far beyond
/// anything real, and far from what numbers lose.
constexpr double planned_scale = 1e30;
/// Named links of one problem: every pair of a few hundred peers.
constexpr std::size_t planned_links = 250'000;
/// Peers of a problem with links: the program in the shares has as many
/// columns.
constexpr std::size_t planned_linked_peers = 512;
/// Bytes of a file of peers: room for those links.
constexpr std::size_t plan_file_bytes = 64u << 20;
/// Chunks of a planned schedule unless told: shares to a thousandth, and more
/// than most gradients have.
constexpr std::uint32_t planned_chunks = 4096;
constexpr std::uint32_t planned_chunks_per_peer = 64;
/// Up to so many peers the published linear program is solved as it is (about
/// 0.1 s at the limit); beyond, every chunk is averaged in one place.
constexpr std::size_t published_peers = 64;
/// Up to so many whose computing is open, who computes is searched for by
/// branch and bound, through so many parts: 200 ms together.
constexpr std::size_t searched_peers = 16;
constexpr std::size_t searched_parts = 2000;
/// Beyond, in networks of so many peers, the same through few parts: for a
/// closer bound, and maybe a better set, in about a second.
constexpr std::size_t bounded_peers = 24;
constexpr std::size_t searched_parts_beyond = 20;
/// Sets of computing peers whose exchange is solved while looking for a good
/// one.
constexpr std::size_t tried_sets = 400;
/// What counts as equal: beyond the tolerance of the solvers.
constexpr double planned_hair = 1e-9;
/// Pairs of averaging and other peers in the program for a larger network with
/// links: a few tenths of a second.
constexpr std::size_t exchange_columns = 2000;
/// Peers of which a plan lists all rates, two for each pair.
constexpr std::size_t listed_peers = 256;
/// Groups of alike peers in the program behind the upper bound of a large plan.
constexpr std::size_t bound_groups = 64;

} // namespace potluck::limits
