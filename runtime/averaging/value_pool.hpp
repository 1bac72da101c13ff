/// Vectors of floats that are used again: a gradient's worth of fresh memory
/// costs more than averaging into it, for the kernel has to clear every page.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace potluck {

/// Thread-safe: what it lends may be let go by any thread, and outlive it.
class value_pool {
public:
  /// @param most_idle Values that it keeps for later at most, over all vectors.
  explicit value_pool(std::size_t most_idle);

  /// A vector of `values` floats that are anything. It comes back when nobody
  /// holds it.
  std::shared_ptr<std::vector<float>> take(std::size_t values);

  /// Values in the vectors that wait here.
  std::size_t idle() const;

private:
  struct shelf {
    std::mutex mutex;
    std::vector<std::vector<float>> vectors;
    std::size_t idle = 0;
    std::size_t most_idle = 0;
  };

  static void put_back(shelf& x, std::vector<float> what);

  std::shared_ptr<shelf> shelf_;
};

} // namespace potluck
