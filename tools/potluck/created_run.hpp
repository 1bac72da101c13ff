/// Runs as the user names them: by invitation, by a manifest's file, or, in
/// trials, by a name alone.
#pragma once

#include <optional>
#include <string>

#include "runtime/manifest/invitation.hpp"
#include "runtime/manifest/manifest.hpp"
#include "runtime/state/charter.hpp"
#include "tools/potluck/options.hpp"

namespace potluck::tools {

/// Where `potluck create` keeps a run's manifest, and others look for it.
std::string manifest_path(const std::string& directory,
                          const std::string& name);

/// Where whoever creates a run keeps its first state, if that does not follow
/// from the seed: a checkpoint.
std::string first_state_path(const std::string& directory,
                             const std::string& run);

/// A trial that ends after so many steps: it belongs to those that hold its
/// state, as a created run to its organiser.
charter with_steps(const charter& trial, std::uint64_t steps);

/// What `potluck create` has written. Nothing where there is no such file;
/// fails with a sentence where it is no sound manifest.
expected<std::optional<manifest>> read_manifest_file(const std::string& path);

/// The INVITATION among a command's words, if there is one.
expected<std::optional<invitation>>
invitation_from(const cli::command_line& options);

/// A run, and its manifest where it lies on this machine.
struct named_run {
  std::string run; ///< Its key.
  std::optional<potluck::manifest> manifest = {};
  /// Where an invitation said it; else nothing is in it.
  std::optional<invitation> invited = {};
};

/// What `--run WORD` of a bootstrap means: an invitation; a manifest's file,
/// which has a slash in its path; the name of a run that `potluck create` has
/// made in this identity directory; or else the name of a trial.
expected<named_run> run_named(const std::string& word,
                              const std::string& directory);

/// The run of an invitation, likewise.
expected<named_run> run_invited(const invitation& to,
                                const std::string& directory);

} // namespace potluck::tools
