/// How a trainer computes: what it was told, and what its threads need for it.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include "models/flushed_denormals.hpp"
#include "models/precision.hpp"

namespace potluck {

/// None of it changes what comes out, but for rounding.
struct computing_options {
  at::Device device = at::kCPU;
  precision bits = precision::float32;
  int threads = 0;               ///< For LibTorch's loops; 0 for all cores.
  std::uint32_t micro_batch = 0; ///< Samples computed at once; 0 to choose.
  /// Micro-batches under way at once: more than one where a network waits for
  /// others' answers.
  std::uint32_t in_flight = 1;
  /// Hears why a trainer waits, or computes otherwise than asked, in a
  /// sentence; from any thread. May be empty.
  std::function<void(const std::string&)> notice;

  void tell(const std::string& sentence) const {
    if (notice)
      notice(sentence);
  }
};

/// What a trainer's call needs of its thread.
struct computing_thread {
  explicit computing_thread(const computing_options& options) {
    at::set_num_threads(options.threads);
    if (!options.device.is_cpu())
      card.reset_device(options.device);
  }

  // OpenMP's threads begin as the one that needs them first, and keep the
  // number per calling thread.
  const flushed_denormals flushed;
  c10::OptionalDeviceGuard card;
};

} // namespace potluck
