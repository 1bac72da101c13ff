/// A trainer next to a bare LibTorch loop over the same network and samples, as
/// the yardstick of `potluck bench trainer`. Torch-free.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/state/charter.hpp"

namespace potluck {

struct race_workload {
  /// Of a model of text, which is drawn: there is no tokenizer.
  run_settings settings;
  std::string device = "auto";
  std::string precision = "float32";
  int threads = 0;               ///< 0 for all cores.
  std::uint32_t micro_batch = 0; ///< Samples of both at once; 0 to choose.
  /// Hears when the trainer computes otherwise than asked. May be empty.
  std::function<void(const std::string&)> notice;
};

class trainer_race {
public:
  /// Throws std::runtime_error with a sentence when there is no such trainer.
  explicit trainer_race(const race_workload& what);
  ~trainer_race();

  std::uint64_t parameters() const;

  /// Seconds from new parameters to the samples' gradient in the caller's
  /// vector, as a peer has it computed for a step.
  double trainer_step(std::uint32_t samples);

  /// Seconds of both passes over as many samples in micro-batches, whose
  /// parameters and gradients are where they are computed, and stay there.
  double bare_step(std::uint32_t samples);

private:
  struct contest;
  std::unique_ptr<contest> it_;
};

} // namespace potluck
