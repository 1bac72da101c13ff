/// How long a mixture of experts waits, and for whom.
///
/// Pure: told of every answer and failure, it says when enough is there. Each
/// sample waits for `k_min` of its experts, and from then on at most
/// `timeout_after_k_min` for the others (Ryabinin and Gusev 2020, section 3.3).
/// The calls are waited for together: an answer that comes before the last
/// sample has enough counts for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/clock.hpp"

namespace potluck {

class quorum {
public:
  struct settings {
    std::uint32_t k_min = 1;
    duration timeout_after_k_min{};
    duration patience{}; ///< Nobody waits longer, from the start on.
  };

  enum class verdict {
    taken,   ///< Counted.
    unknown, ///< There is no such call, or it has ended; nothing changed.
  };

  /// @param calls The samples of each call, in numbers below `samples`. Throws
  /// std::invalid_argument on others, and on k_min = 0.
  quorum(settings how, std::size_t samples,
         std::vector<std::vector<std::uint32_t>> calls, time_point now);

  verdict answered(std::size_t call, time_point now);
  verdict failed(std::size_t call);

  /// When waiting ends if nothing is reported before; the past when every
  /// sample has all that it may hope for. A sample that cannot reach k_min any
  /// more is not waited for.
  time_point deadline() const;

  bool done(time_point now) const {
    return deadline() <= now;
  }

  /// Answers that a sample has.
  std::uint32_t answers(std::size_t sample) const {
    return samples_[sample].answers;
  }
  bool enough(std::size_t sample) const {
    return answers(sample) >= how_.k_min;
  }

private:
  struct state {
    std::uint32_t answers = 0;
    std::uint32_t open = 0;
    time_point enough_since;
  };

  bool close(std::size_t call);

  settings how_;
  time_point start_;
  std::vector<std::vector<std::uint32_t>> calls_;
  std::vector<bool> ended_;
  std::vector<state> samples_;
};

} // namespace potluck
