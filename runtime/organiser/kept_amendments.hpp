/// A run's manifest and amendments as a peer keeps them over its restarts: a
/// file each, which `potluck amend` on the same machine reads and writes, too.
#pragma once

#include <string>
#include <vector>

#include "runtime/manifest/manifest.hpp"
#include "runtime/organiser/amendment_book.hpp"
#include "runtime/state/charter.hpp"

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

/// Replaces the file at `path`.
expected<bool> keep_amendments(const std::string& path,
                               const amendment_book& x);

} // namespace potluck
