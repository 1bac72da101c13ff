/// Vectors of floats that are used again: a gradient's worth of fresh memory
/// costs more than averaging into it, for the kernel has to clear every page.
/// And how much of what is to be added into them may wait.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace potluck {

/// Thread-safe: what it lends may be let go by any thread, and outlive it.
class value_pool {
public:
  /// Bytes of parts of all chunks that wait to be added.
  static constexpr std::size_t most_waiting = std::size_t{8} << 20;
  /// Of one member: a usual body. Its connection counts it as unread, and is
  /// read again only if this is less than `limits::read_on_share` of what may
  /// be.
  static constexpr std::size_t most_waiting_of_one = std::size_t{640} << 10;

  /// @param most_idle Values that it keeps for later at most, over all vectors.
  explicit value_pool(std::size_t most_idle);

  /// A vector of `values` floats that are anything. It comes back when nobody
  /// holds it.
  std::shared_ptr<std::vector<float>> take(std::size_t values);

  /// Values in the vectors that wait here.
  std::size_t idle() const;

  /// So many bytes of a member's parts wait until they are added together, as
  /// long as the result lives; null where too many wait already.
  /// @param member By which it is told from others: an index into the contract.
  std::shared_ptr<const void> let_wait(std::size_t member, std::size_t bytes);

private:
  struct shelf {
    std::mutex mutex;
    std::vector<std::vector<float>> vectors;
    std::size_t idle = 0;
    std::size_t most_idle = 0;
    std::size_t waiting = 0;                       ///< Bytes.
    std::map<std::size_t, std::size_t> waiting_of; ///< By member.
  };

  static void put_back(shelf& x, std::vector<float> what);

  std::shared_ptr<shelf> shelf_;
};

} // namespace potluck
