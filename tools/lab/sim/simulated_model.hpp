/// A model of plain arithmetic for simulations: fast, the same bits everywhere,
/// and able to show whether every sample was counted exactly once.
///
/// It learns to reproduce one fixed vector: sample n is a noisy look at one
/// stretch of it, and its loss is half the squared distance. Some values, the
/// first of each averaged chunk among them, are *tallies*: every sample adds
/// one to them, so that the mean over any set of samples, each counted once, is
/// one.
#pragma once

#include "runtime/ports/trainer.hpp"

namespace potluck {

class simulated_model : public trainer {
public:
  static constexpr std::size_t stretch = 32;

  /// @param values Parameters. Not zero.
  /// @param chunk_values From one tally to the next: every round's chunks begin
  /// at multiples of it.
  /// @param weightless Nothing but the tallies is computed: for so many peers
  /// that only the duration of computing matters.
  simulated_model(std::size_t values, std::uint32_t chunk_values,
                  bool weightless = false);

  const model_layout& layout() const override {
    return layout_;
  }
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override;
  evaluation evaluate(const float* parameters, std::uint64_t order_seed,
                      std::uint64_t samples) override;

private:
  model_layout layout_;
  std::uint32_t chunk_values_;
  bool weightless_;
};

/// Whether the mean of a chunk counts every sample once: its tally is one.
/// @param rounded Parts or means were packed on the way: then a sample more or
/// less does not show, but a member more or less does.
bool tally_is_right(float mean_of_tally, bool rounded = false);

} // namespace potluck
