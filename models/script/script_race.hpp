/// A script's trainer, sandbox included, next to a bare LibTorch loop over the
/// same file and samples, as the yardstick of `potluck bench trainer`.
/// Torch-free.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace potluck {

class script_race {
public:
  /// @param path Of a file of one's own, since the bare loop runs it as it is:
  /// of text, for at least 2000 tokens. @param threads 0 for all cores.
  /// Throws std::runtime_error with a sentence when there is no such trainer.
  script_race(const std::string& path, int threads);
  ~script_race();

  std::uint64_t parameters() const;
  double trainer_step(std::uint32_t samples); ///< As `trainer_race`'s.
  double bare_step(std::uint32_t samples);

private:
  struct contest;
  std::unique_ptr<contest> it_;
};

} // namespace potluck
