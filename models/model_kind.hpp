/// What a kind of model is: its settings, what it learns from, and the network
/// that it makes of both. Private to this folder, since it includes LibTorch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/catalogue.hpp"
#include "models/network.hpp"
#include "models/source_kind.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

struct model_kind {
  std::string name;
  std::string meaning; ///< One line of help, with its source.
  source_kind source;
  /// It needs `network_surroundings::experts`, and has the settings of
  /// `expert_settings()` beside its own.
  bool calls_experts = false;
  /// Its own; the network reads the source's as well.
  std::vector<declared_setting> settings;
  /// Precondition: each setting is within its limits, and `problem` has none.
  /// Null where there is `make_trainer`.
  std::unique_ptr<network> (*build)(const kind_settings& settings,
                                    const network_surroundings& around)
      = nullptr;
  /// A sentence when settings do not go together; may be null.
  std::string (*problem)(const kind_settings& settings) = nullptr;
  /// Of a model that is not a network of ours: its trainer, for tensors that
  /// the charter lists. Throws std::runtime_error with a sentence.
  std::unique_ptr<trainer> (*make_trainer)(
      const kind_settings& settings, const charter& agreed,
      std::unique_ptr<sample_source> samples, const trainer_options& options)
      = nullptr;
  std::string suffix = {}; ///< `setting_kind::suffix`
  /// Its networks have buffers, and it the setting `buffers` beside its own.
  bool has_buffers = false;
};

/// A model's own settings, its source's, and those of its buffers and experts.
setting_kind declared_by(const model_kind& x);

/// The network of these settings, which fit it, as the run has it.
std::unique_ptr<network> build_network(const model_kind& x,
                                       const kind_settings& settings,
                                       const network_surroundings& around);

/// Of settings "heads" and "hidden-size": a sentence when those do not divide
/// this.
std::string problem_with_heads(const kind_settings& settings);

/// A setting of a model, a whole number.
declared_setting model_setting(std::string name, std::string meaning,
                               declared_setting::whole_limits limits,
                               std::uint64_t usual);

} // namespace potluck
