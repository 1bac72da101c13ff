/// Where a peer's files are replaced: the local disk, or a simulated one that
/// fills up, and tears what was being written when the power went.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

/// A run of bytes to be written; owned by the caller.
struct file_section {
  const void* data;
  std::size_t size;
};

class disk {
public:
  virtual ~disk() = default;

  /// Writes the sections behind each other and puts them in the place of
  /// `path`, as a whole or not at all; on failure the old file stays and the
  /// sentence names the file and the reason. Any thread; one call at a time for
  /// one path.
  virtual expected<bool> replace(const std::string& path,
                                 const std::vector<file_section>& sections)
      = 0;
};

/// The disk of this machine (runtime/state/atomic_file.hpp).
disk& local_disk();

} // namespace potluck
