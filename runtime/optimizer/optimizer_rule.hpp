/// The port between `optimizer`, which has what all rules share, and one rule:
/// SGD, Adam, LAMB, ...
///
/// A rule keeps numbers and no training state. It is handed blocks of at most
/// `block_values` values of one tensor, on any thread and in any order, and
/// must write the same bits for them everywhere: README.md says by what.
#pragma once

#include <cstddef>
#include <cstdint>

namespace potluck {

/// One block of the vectors that an update reads and writes.
struct block_vectors {
  float* x; ///< Parameters.
  float* m; ///< The first vector that the rule keeps,
  float* v; ///< and the second; null where it keeps fewer.
  const float* gradient;
  std::size_t size;
};

/// What holds for one tensor, whatever the rule.
struct tensor_terms {
  /// Whether it decays, and has a trust ratio where the rule knows one.
  bool decays = true;
  double rate = 1; ///< Its learning rate over the run's.
  /// No rule sees it: the mean gradient is taken from it as it is.
  bool buffer = false;
};

/// Squares of a tensor's norms, or of a block's share in them.
struct squared_norms {
  double parameters = 0;
  double direction = 0; ///< Of what the rule holds them against.
};

class optimizer_rule {
public:
  virtual ~optimizer_rule() = default;

  /// Vectors of the parameters' length that it keeps between updates, zero at
  /// first: 0, 1 or 2.
  virtual unsigned moments() const = 0;

  /// Values that an update reads and writes of memory a parameter, without the
  /// gradient's norm: what `potluck bench optimizer` holds its time against.
  virtual unsigned traffic() const {
    // Reads gradient, parameter and moments, writes the latter two.
    return 3 + 2 * moments();
  }

  /// Of the update that follows.
  /// @param step Its number, from 1.
  /// @param scale By which the gradient is to be multiplied: clipping.
  virtual void begin(std::uint64_t step, float scale) = 0;

  /// Whether `measure` has to see every block before anything moves.
  virtual bool measures() const {
    return false;
  }
  /// May write the moments.
  virtual squared_norms measure(const block_vectors&,
                                const tensor_terms&) const {
    return {};
  }
  /// A tensor's trust ratio, from the sums over its blocks; 1 where the rule
  /// has none.
  /// @param rate Of this update and tensor.
  virtual double trust(const squared_norms&, const tensor_terms&,
                       double /*rate*/) const {
    return 1;
  }

  /// Moves the parameters.
  virtual void move(const block_vectors&, const tensor_terms&, double rate,
                    double trust) const = 0;
};

} // namespace potluck
