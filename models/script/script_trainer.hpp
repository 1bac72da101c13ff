/// The trainer port over a file of TorchScript that `potluck-script` computes.
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "models/sample_source.hpp"
#include "models/script/script_inputs.hpp"
#include "models/script/script_program.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck {

struct script_computing {
  script_terms terms;
  std::uint32_t micro_batch = 0; ///< Samples computed at once; 0 to choose.
  /// Hears which samples are left out, in a sentence; from any thread.
  std::function<void(const std::string&)> notice;
};

/// The program has memory for parameters and for a sum of gradients, which both
/// see: parameters go there once for each of their states, and gradients leave
/// it when they are collected. Buffers, such as the means of batch norm, are
/// the program's own, and end with it.
///
/// Drawn numbers, as of dropout, follow from the order seed and the number of a
/// micro-batch's first sample. Calls may come from several threads; the one
/// that made the trainer lives as long as it.
class script_trainer : public trainer {
public:
  /// Throws std::runtime_error with a sentence where the file is not what the
  /// run says, or does not survive being read.
  script_trainer(const std::string& file, std::vector<std::string> inputs,
                 model_layout layout, std::unique_ptr<sample_source> samples,
                 script_computing options);

  const model_layout& layout() const override {
    return layout_;
  }
  std::uint32_t usual_request() const override;

  /// A micro-batch whose loss is not finite is left out. Throws when many are,
  /// when forward fails, and when the program is gone; then the gradient that
  /// was kept is lost.
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override;
  void collect(float* gradient) override;
  void drop() override;

  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override;

private:
  void set_parameters(const float* values, const digest& state);
  /// The arguments of forward, as the program takes them.
  std::string encode(const labelled_batch& batch, std::uint64_t samples) const;
  script_outcome pass(scripting::pass_kind kind, std::uint64_t order_seed,
                      std::uint64_t first, std::uint64_t stride,
                      std::uint64_t count, const std::atomic<bool>& cancelled);
  void leave_out(std::uint64_t first, double loss);

  const std::vector<std::string> inputs_;
  const model_layout layout_;
  const std::unique_ptr<sample_source> samples_;
  script_computing options_;
  std::mutex busy_; ///< Of what follows.
  script_program program_;
  digest state_;               ///< Of the parameters there; empty: unknown.
  std::uint32_t left_out_ = 0; ///< Micro-batches in a row.
};

} // namespace potluck
