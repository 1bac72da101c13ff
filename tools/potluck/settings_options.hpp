/// A run's settings as options: those of every run, and those of the kinds of
/// model and optimizer that the options themselves choose.
#pragma once

#include "runtime/state/setting_kinds.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// The kinds that this executable knows: of `potluck`, those that every peer
/// knows; of `potluck-full`, the models, too.
const kind_families& kinds_here();

/// A flag for every setting of a run, and for those of the kinds here where
/// they are chosen.
std::vector<cli::option_spec> settings_options();

/// The settings that the flags ask for, in a consistent whole: what was not
/// given follows from what was (the warm-up from the steps), or is as usual.
/// @param instead Of some of them: what counts instead of their flags.
expected<run_settings> settings_from(const cli::command_line& options,
                                     const std::vector<setting>& instead = {});

/// The settings that were given explicitly, as a charter has them.
std::vector<setting> demanded_settings(const cli::command_line& options);

} // namespace potluck::tools
