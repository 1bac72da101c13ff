/// How a model's tensors lie in one flat float32 vector.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace potluck {

struct tensor_entry {
  /// The name under which Hugging Face's checkpoints know the tensor.
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0; ///< In values, from the start of the flat vector.
  std::uint64_t values = 0; ///< Product of `shape`.
  /// Weight decay and LAMB's trust ratio apply (not to biases and LayerNorm).
  bool decays = true;
  /// Initial values: `initial_mean` plus noise of `initial_deviation`.
  float initial_mean = 0;
  float initial_deviation = 0;
  /// No gradient leads to it: after a step it is the mean of what the peers
  /// made of it, whatever the optimizer. Its gradient is the value before minus
  /// that after.
  bool buffer = false;
};

/// Entries are contiguous, in order, and cover the vector exactly.
class model_layout {
public:
  /// Appends a tensor behind the last.
  void add(std::string name, std::vector<std::int64_t> shape, bool decays,
           float initial_mean, float initial_deviation) {
    std::uint64_t values = 1;
    for (auto extent : shape)
      values *= static_cast<std::uint64_t>(extent);
    entries_.push_back({std::move(name), std::move(shape), values_, values,
                        decays, initial_mean, initial_deviation, false});
    values_ += values;
  }

  /// A tensor of the last kind, which begins with `initial` everywhere.
  void add_buffer(std::string name, std::vector<std::int64_t> shape,
                  float initial) {
    add(std::move(name), std::move(shape), false, initial, 0);
    entries_.back().buffer = true;
  }

  const std::vector<tensor_entry>& entries() const {
    return entries_;
  }

  /// Length of the flat vector.
  std::uint64_t values() const {
    return values_;
  }

private:
  std::vector<tensor_entry> entries_;
  std::uint64_t values_ = 0;
};

} // namespace potluck
