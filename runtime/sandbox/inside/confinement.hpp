/// Takes from this process whatever the reading of bytes does not need: files,
/// network, other processes, and more than its share of memory and time.
///
/// For programs that `sandboxed_program` starts, not for a peer.
#pragma once

#include <cstdint>
#include <string>

namespace potluck::sandbox {

struct confinement_limits {
  std::uint64_t memory_bytes; ///< Of addresses, the program's own included.
  std::uint32_t cpu_seconds;  ///< 0: no limit; its owner has one on answers.
  /// Whether it may turn memory into code, as LibTorch's kernels for
  /// convolutions do, which are written for the processor at hand.
  bool makes_code = false;
};

/// Confines this process for the rest of its life, and tries whether it is.
/// All descriptors but `channel` are closed, or lead to /dev/null. Threads that
/// run go on, as confined as this one; one that has not got so far by now ends
/// the process, and no other begins. Empty: done; else
/// why it is not, in some words.
std::string confine(const confinement_limits& most);

} // namespace potluck::sandbox
