/// A lock that one process at a time holds.
#pragma once

#include <string>

#include "messages/expected.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

/// Locks the file at `path`, which is made for its owner only where it is
/// missing. The lock is held while the result is open.
/// @param taken The failure's sentence where somebody else holds it.
expected<file_descriptor> lock_file(const std::string& path,
                                    const std::string& taken);

} // namespace potluck
