/// Replaces a file as a whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/ports/disk.hpp"

namespace potluck {

/// Writes the sections behind each other to `path`.partial, makes them durable
/// and renames it to `path`: whatever happens in between, `path` holds the old
/// content or the new. On failure the old one stays, and the sentence names the
/// file and the reason. `mode` is that of open(2), before the umask.
expected<bool> replace_file(const std::string& path,
                            const std::vector<file_section>& sections,
                            unsigned mode = 0666);

/// Finds out early whether `replace_file` can work at `path`: makes
/// `path`.partial, writes a byte to it and removes it. `path` itself is not
/// touched, and the disk may be full later.
expected<bool> try_file(const std::string& path);

/// Makes names durable in the directory that `path` is in: a rename or a link
/// lasts once its directory is on the disk. False with errno set.
bool sync_directory_of(const std::string& path);

/// "cannot WHAT PATH: REASON" for the current errno.
failure file_failure(const std::string& what, const std::string& path);

} // namespace potluck
