/// One chunk's parts on their way to its mean: the one place where a part is
/// offered, whichever thread has it.
///
/// It belongs to the chunk's reducer. Whoever receives parts may add them on
/// the reducer's behalf, while they are in that thread's cache: a part is
/// checked, added and hashed by one call, which gives its verdict. A part that
/// is no good changes nothing, and its member is left out from then on.
/// Thread-safe; no clock, socket or actor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/chunk_average.hpp"
#include "runtime/safeguards.hpp"

namespace potluck {

class chunk_sum {
public:
  /// What a call has come to. Whoever called tells the reducer, if it is worth
  /// telling.
  struct news {
    /// Why the part is no good; null: it counts, or is one too many, which is
    /// no offence.
    const char* refused = nullptr;
    bool counted = false; ///< It is in the sum, or will be.
    /// Every part is in now that the sum waits for. True once.
    bool complete = false;

    bool worth_telling() const {
      return refused || complete;
    }
  };

  struct result {
    std::shared_ptr<const std::vector<float>> mean;
    std::vector<std::uint8_t> left_out; ///< Members whose part is not in it.
    /// Of these, the ones whose part was too long by far, under a robust rule.
    std::vector<std::uint8_t> outliers;
    /// Digests of the members' parts as they came; empty for the others.
    std::vector<digest> parts;
  };

  /// @param self The member whose parts are pieces of memory that stays as it
  /// is: they are read when others are added.
  /// The rest is as for `chunk_average`, which throws what it throws.
  chunk_sum(std::size_t length, std::vector<std::uint64_t> samples,
            averaging_rule rule, std::optional<value_pool> rooms,
            std::size_t self, safeguard_set guards = {});

  /// Counts a member's part, or refuses it and leaves the member out.
  news offer(std::size_t member, const chunk_part& head,
             const shared_bytes& body);

  /// Does without the parts of these members that are not in yet.
  news leave_out(const std::vector<std::uint8_t>& members);

  /// Parts counted so far: it grows while they come.
  std::size_t counted() const {
    return counted_;
  }

  /// The mean, once complete; by the reducer only, once.
  result settle();

private:
  std::atomic<bool> over_{false}; ///< Complete: no part changes it any more.
  std::atomic<std::size_t> counted_{0};
  std::mutex mutex_; ///< Of all that follows.
  chunk_average average_;
  std::vector<digest> parts_;
  const std::size_t self_;
};

} // namespace potluck
