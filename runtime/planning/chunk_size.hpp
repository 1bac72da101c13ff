/// How finely a round cuts the gradient: the lines decide.
///
/// A mean is made when its chunk is here from everybody, so that for the time
/// of a chunk from each member no mean travels, and a member averages no less
/// than a chunk: small chunks fill the lines sooner and make finer shares. But
/// each costs a head, digests and a look, so that a fast line wants large ones.
#pragma once

#include <cstdint>

#include "messages/matchmaking.hpp"
#include "messages/packing.hpp"

namespace potluck {

struct plan_rules;

/// Chunks of each member that are worth having: the first of them, before which
/// no mean is made, is then 3 % of what a line carries.
constexpr std::uint64_t chunks_a_member = 16;
/// Of a body. Below, heads are more than 1 % of it.
constexpr double least_chunk_bytes = 16 * 1024;
/// A chunk is at least what the slowest line carries in this many seconds: more
/// often nobody has to look.
constexpr double least_chunk_seconds = 0.002;

/// The most values of a chunk where means are sent like this, and the run's
/// setting is `most` for float32: bodies are as long, in whole blocks.
std::uint32_t packed_chunk_values(std::uint32_t most, packing how);

/// Values a chunk, from all of the contract but its `chunk_values` and `plan`:
/// every member cuts alike.
/// @param most The run's setting. The result is `packed_chunk_values` of that,
/// halved as often as bodies stay large enough and whole blocks of packings
/// remain whole.
std::uint32_t chunk_values_for(const group_contract& contract,
                               std::uint32_t most,
                               packing how = packing::float32);

/// Values: chunks that are fitted are multiples of so many.
constexpr std::uint32_t least_chunk_step = 64;
/// Bytes of a chunk beside its values: head, preamble, record of TLS.
constexpr double chunk_head_bytes = 160;

/// `whole`, or down to three quarters of it where the plan's shares then come
/// closer to whole chunks: of two chunks or three, a member who should average
/// two and a half does a fifth too much or too little, and all wait for it. Of
/// all these, heads included, the one with the fastest exchange. Where pairs
/// are limited, or `whole` is no round number, it stays.
/// @param contract All of it but its `chunk_values` and `plan`.
std::uint32_t fitting_chunk_values(const group_contract& contract,
                                   std::uint32_t whole, packing how,
                                   const plan_rules& rules);

/// The least that any contract comes to before it is fitted, however it
/// packs.
std::uint32_t least_chunk_values(std::uint32_t most);

} // namespace potluck
