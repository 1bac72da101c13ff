/// A run's manifest and amendments as a peer keeps them over its restarts: a
/// file each, which `potluck amend` on the same machine reads and writes, too.
#pragma once

#include <string>
#include <vector>

#include "runtime/manifest/manifest.hpp"
#include "runtime/organiser/amendment_book.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

/// Who may sign: the organiser, and the others that the settings name.
organisers signers_of(const manifest& run, const run_settings& settings);

/// @param run Its key.
std::string kept_manifest_path(const std::string& folder,
                               const std::string& run);
std::string amendments_path(const std::string& folder, const std::string& run);

/// Takes what the file at `path` holds, if there is one.
/// @returns What is wrong with it, beginning with its path; empty: nothing.
std::string read_amendments(const std::string& path, amendment_book& into);

/// Takes the lock of the book at `path`, which is the file `path`.lock, so that
/// one process at a time signs the run's next amendment. It is held while the
/// result is open. Makes the folder for its owner only when it is missing.
/// Fails with a sentence, where another one holds it for instance.
expected<file_descriptor> lock_amendments(const std::string& path);

/// Replaces the file at `path`.
expected<bool> keep_amendments(const std::string& path,
                               const amendment_book& x);

} // namespace potluck
