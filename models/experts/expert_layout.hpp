/// What an expert's parameters are, and how they travel as bytes. Torch-free.
///
/// The tensors of `ffn` and of `transformer` have the names of ALBERT's layer
/// (models/albert_layout). README.md gives the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/ports/expert_module.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck::limits {

/// Parameters of one expert: with its moments it is 3 GiB, which must fit into
/// memory twice to be saved.
constexpr std::uint64_t expert_values = std::uint64_t{1} << 28;

} // namespace potluck::limits

namespace potluck {

/// The kinds of experts, in alphabetical order.
std::vector<std::string> known_expert_layers();

/// Why there is no such expert, in a sentence with what mends it; empty when
/// there is.
std::string problem_with(const expert_kind& kind);

/// Values of one sample: a vector of `hidden` for each of the tokens, in and
/// out alike.
expert_shape shape_of(const expert_kind& kind);

/// Values between an expert's two linear maps.
std::uint32_t inner_of(const expert_kind& kind);

/// The tensors of a kind that `problem_with` accepts; none for "nop".
model_layout expert_layout(const expert_kind& kind);

/// Parameters as a fresh expert has them: the same on every machine for equal
/// kinds (but for the learning rate), uids and seeds.
training_state fresh_expert(const expert_kind& kind, const std::string& uid,
                            std::uint64_t seed);

/// Updates, parameters and moments as bytes, with what they are and a digest.
std::vector<std::uint8_t> expert_bytes(const expert_kind& kind,
                                       const training_state& state);

/// Fails with a sentence when the bytes are damaged or another kind's.
expected<training_state> read_expert(const expert_kind& kind,
                                     const std::vector<std::uint8_t>& bytes);

} // namespace potluck
