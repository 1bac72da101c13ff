/// A loop's tensors in its own memory, and the flat vectors that training
/// holds: values go from one to the other, on several threads.
///
/// Knows no run and no peer; whoever calls sees to it that nobody else writes
/// to the vectors meanwhile.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/state/model_layout.hpp"

namespace potluck::library {

/// Where tensors lie in the caller's memory: one behind the other, or each
/// somewhere, and left out where it is null.
template <class Value>
struct tensors {
  Value* flat = nullptr;
  Value* const* each = nullptr;
};

class loop_tensors {
public:
  /// @param layout Outlives this.
  /// @param threads The most that work at once.
  loop_tensors(const model_layout& layout, unsigned threads)
      : layout_(layout), threads_(threads) {
  }

  /// Adds the gradients, times `weight`, to `sum`, or writes them there where
  /// it begins. Throws `complaint` where a value is not finite: a sum that does
  /// not begin is then as it was.
  void add_to(float* sum, bool begins, const tensors<const float>& gradients,
              float weight) const;
  /// Copies the parameters out.
  void give(const float* values, const tensors<float>& parameters) const;
  /// Copies moments out; those that there are none of are zero.
  /// @param to Of every tensor, or null; null for one that is left out.
  void give_moments(const std::vector<float>& from, float* const* to) const;

private:
  /// Where the tensor lies in the caller's memory; null: left out.
  template <class Value>
  Value* part(const tensors<Value>& of, std::size_t index) const;
  /// `job(index, begin, size)` for pieces of all tensors.
  template <class Job>
  void for_each_piece(Job job) const;

  const model_layout& layout_;
  unsigned threads_;
};

} // namespace potluck::library
