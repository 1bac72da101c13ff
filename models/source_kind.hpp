/// What a source of samples declares: its settings, what it makes of a path,
/// and what a run needs for it. Private to this folder, since it includes
/// LibTorch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/sample_source.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

struct source_kind {
  /// Its own, in the section "data".
  std::vector<declared_setting> settings;
  /// Why there is nothing to learn from at a path, in a sentence; empty when
  /// there is. Blocks while it reads.
  std::string (*problem_with_data)(const std::string& path);
  /// The charter of a new run that learns from what is there, with the files
  /// and settings that follow from it. Blocks.
  expected<charter> (*propose)(run_settings settings, const std::string& path);
  /// Opens what is there. Throws std::runtime_error with a sentence.
  std::unique_ptr<sample_source> (*open)(const kind_settings& settings,
                                         const charter& agreed,
                                         const std::string& path);
};

} // namespace potluck
