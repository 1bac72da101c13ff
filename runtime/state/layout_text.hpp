/// A model's tensors as text, for models that a run's charter carries instead
/// of a kind that Potluck knows: one tensor a line, in order,
///
///     NAME EXTENTxEXTENT... decays|fixed|buffer
///
/// with `scalar` in the place of a shape without extents. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "messages/expected.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck {

/// Of a run whose tensors the charter names in a file of this name.
constexpr auto tensors_model = "tensors";
constexpr auto layout_file = "layout";
/// Of one that has the model's code in a file, too (models/script).
constexpr auto script_model = "torchscript";
constexpr auto script_file = "script";

/// Whether a loop outside may train a run's model: what it is, its tensors say.
inline bool is_tensors_model(const std::string& model) {
  return model == tensors_model || model == script_model;
}

/// Of a layout; beyond, it is nobody's.
constexpr std::size_t max_tensors = 65536;
constexpr std::size_t max_tensor_name = 200; ///< Characters.
constexpr std::size_t max_dimensions = 8;

/// A sentence when `layout` has no room for one more tensor like this, or it is
/// none; empty when it fits.
std::string problem_with_tensor(const model_layout& layout,
                                const std::string& name,
                                const std::vector<std::int64_t>& shape);

std::string to_layout_text(const model_layout& layout);

/// Reads what `to_layout_text` wrote, and nothing else; initial values are not
/// in it. Fails with a sentence.
expected<model_layout> read_layout_text(const std::string& text);

/// The first tensor that differs, for a person: "tensor 3 is weight 4x2 decays
/// here and weight 4x3 decays there". Empty when none does.
std::string layout_difference(const model_layout& here,
                              const model_layout& there);

} // namespace potluck
