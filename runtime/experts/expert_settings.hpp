/// What a run says of the experts that a mixture calls: settings in the section
/// "experts", whatever model has the mixture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/packing.hpp"
#include "runtime/state/declared_setting.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

/// The settings "experts", "expert-grid", "experts-per-sample" and
/// "call-packing".
std::vector<declared_setting> expert_settings();

/// A sentence when they describe no grid of experts; empty when they do.
std::string problem_with_experts(const kind_settings& settings);

/// One layer of experts, as the settings say it.
struct expert_layer {
  /// What the experts' uids begin with: EXPERTS.LAYER, "ffn.2" for instance.
  std::string name;
  std::vector<std::uint32_t> grid; ///< Coordinates of each dimension.
  std::uint32_t k = 1;             ///< Experts called for a sample.
  potluck::packing packing = potluck::packing::float32; ///< Of the calls.
};

/// @param settings With which there is no problem.
/// @param number Of the layer, from 0 and below 256.
expert_layer layer_of_experts(const kind_settings& settings,
                              std::uint32_t number);

} // namespace potluck
