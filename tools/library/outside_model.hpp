/// The model of a loop outside: its tensors in a run's charter, and its kind,
/// which declares settings: those of the experts that the loop may call.
#pragma once

#include <cstdint>
#include <string>

#include "messages/expected.hpp"
#include "runtime/artifacts/own_artifacts.hpp"
#include "runtime/experts/expert_settings.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"

namespace potluck::library {

/// The charter of a run of these tensors, with the user's own files. Throws
/// `complaint`.
charter charter_with(const run_settings& settings, const model_layout& layout,
                     const own_artifacts& files, const artifact_folder& folder);
/// Why a run's tensors are not these; empty: they are.
std::string difference_from(const charter& run, const model_layout& here);

/// Of one kind, `tensors_model`.
const kind_family& outside_models();
/// That, and what every peer knows.
const kind_families& outside_families();

/// Whether the run's loops call experts.
bool names_experts(const run_settings& settings);
/// Completes what such settings say of experts. Fails with a sentence where
/// they describe none.
expected<bool> complete_experts(run_settings& settings);

/// A layer of them, and the values of a sample.
struct called_experts {
  expert_layer layer;
  std::uint32_t width = 0;
};
/// Fails with a sentence where the settings, which may be another peer's, name
/// no experts, or have none of this number.
expected<called_experts> experts_in(const run_settings& settings,
                                    unsigned long layer);

} // namespace potluck::library
