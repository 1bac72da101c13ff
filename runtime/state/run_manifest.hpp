/// A charter as its run's manifest, and back: which settings stand in which
/// section (`declared_setting::section`), and each file in one of its own.
#pragma once

#include <string>

#include "runtime/manifest/manifest.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

/// The manifest of a new run.
/// @param draft Its settings have the run's name.
expected<manifest> sign_charter(const charter& draft,
                                const key_pair& organiser);

/// What the run of this manifest has as its charter; its setting `run` is
/// `manifest::run()`. Fails with a sentence when this version of Potluck does
/// not know all that it says.
expected<charter> charter_of(const manifest& x);

/// Whether a charter that came without its manifest, as in a checkpoint, is
/// that of the created run which its setting `run` names.
/// @param organiser Whose key that run has, as its invitation says.
bool is_of_its_run(const charter& x, const public_key& organiser);

/// Reads bytes that somebody gave as the charter of a run.
/// @param run The run's key. Where it names an id the bytes are that run's
///     manifest, which is sure before anything else of them is looked at; in a
///     trial they are any charter that says this name.
expected<charter> read_charter(const std::string& run,
                               const std::string& bytes);

} // namespace potluck
