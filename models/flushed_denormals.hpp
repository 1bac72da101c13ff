/// Numbers below 2^-126 (denormals) count as zero in a thread, and in threads
/// that it starts, LibTorch's own among them.
///
/// A processor takes some hundred cycles for each of them, and a gradient loses
/// nothing without. Not for what every peer must compute to the same bits.
/// Torch-free.
#pragma once

#include <cfenv>

namespace potluck {

/// Flushes them as long as it lives; then the thread computes as before. Does
/// nothing on a processor that cannot.
class flushed_denormals {
public:
  flushed_denormals();
  ~flushed_denormals();
  flushed_denormals(const flushed_denormals&) = delete;
  flushed_denormals& operator=(const flushed_denormals&) = delete;

private:
  std::fenv_t before_;
};

} // namespace potluck
