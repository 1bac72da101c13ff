/// A run's charter, its training state and what proves its history, in one
/// file, from which it can continue.
///
///     offset  size  field
///     0       8     magic "PLKCKPT\n"
///     8       4     version, 3; 1 and 2 have no signed steps, and in version 1
///                   there are always two moments
///     12      4     recent digests, at most max_recent_digests
///     16      8     charter bytes, at most 16 MiB
///     24      8     parameters (values, not bytes)
///     32      8     bytes of signed steps, at most 1 MiB
///     40      ...   charter, recent digests (16 bytes each), signed steps (the
///                   letter of a peer that shows them), state's bytes
///     end-16  16    XXH3-128 of the XXH3-128 digests of: everything before the
///                   vectors, parameters, and each moment that is there
///
/// Integers are little-endian. The trailer detects damage, not forgery: whoever
/// reads signed steps checks them as if a stranger showed them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/history.hpp"
#include "runtime/ports/disk.hpp"
#include "runtime/safeguards.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

struct checkpoint {
  potluck::charter charter;
  training_state state;
  /// What led there, at most `max_shown_steps`; nobody has checked it.
  std::vector<signed_step> history = {};
};

/// Replaces `path` as a whole (see atomic_file.hpp). On failure, for instance a
/// full disk, the old file stays.
expected<bool> save_checkpoint(const std::string& path, const charter& charter,
                               const training_state& state,
                               disk& where = local_disk(),
                               const std::vector<signed_step>& history = {});

/// Fails with a sentence on a file that is missing, truncated, damaged, of
/// another version, or something else. The state has the moments that the
/// charter's optimizer keeps. Whether it fits the charter's model is for the
/// caller to check, who knows the model's layout.
expected<checkpoint> load_checkpoint(const std::string& path);

/// What the beginning of a checkpoint says; its state is not read.
struct checkpoint_summary {
  potluck::charter charter;
  std::uint64_t step = 0;
  std::uint64_t history_samples = 0;
  std::uint64_t values = 0;     ///< Parameters.
  std::uint64_t file_bytes = 0; ///< As the file is long.
};

/// Fails as `load_checkpoint` does, but for damage behind the beginning.
expected<checkpoint_summary> read_checkpoint_summary(const std::string& path);

/// As `load_checkpoint`, of a file that somebody else reads.
/// @param path For the sentences.
/// @param file_bytes The file's length.
/// @param read Copies the next so many bytes, or returns false with errno set.
expected<checkpoint>
read_checkpoint(const std::string& path, std::uint64_t file_bytes,
                const std::function<bool(void*, std::size_t)>& read,
                safeguard_set guards = {});

} // namespace potluck
