/// Who holds a round up by bringing parts or means one at a time, each just
/// before patience ends.
///
/// A member is late once most others have brought all that they owe this one,
/// and the plan's time and some patience have passed, too. Where most are slow,
/// as on a bad day's lines, nobody is. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/clock.hpp"
#include "runtime/direct_lines.hpp"

namespace potluck {

class laggards {
public:
  /// Parts are late after so many times the patience, as if their member had
  /// been silent;
  static constexpr int late_parts = 1;
  /// means later, since an honest reducer may have waited for parts itself.
  static constexpr int late_means = 2;

  /// @param planned What the round is to take, in seconds.
  laggards(const group_contract& contract, const chunk_map& map,
           const direct_lines& lines, std::size_t self, double planned);

  /// From this member, so long after the round began: a part of what this one
  /// averages, or a mean of the plan. Each once.
  void part_came(std::size_t member, duration since) {
    parts_.came(member, since);
  }
  void mean_came(std::size_t member, duration since) {
    means_.came(member, since);
  }

  /// Whose parts, or means, are late when the round is so old; ascending.
  std::vector<std::size_t> without_parts(duration age) const;
  std::vector<std::size_t> without_means(duration age) const;

private:
  /// How much of what each member owes this one has come.
  class account {
  public:
    void owes(std::size_t member, std::uint32_t count);
    void came(std::size_t member, duration since);
    /// Those that have not brought all, `grace` after most had.
    std::vector<std::size_t> late(duration age, duration planned,
                                  duration grace) const;

  private:
    std::vector<std::uint32_t> owed_; ///< By each member, yet to come.
    std::size_t all_ = 1;             ///< That owed something, and this one.
    std::size_t complete_ = 1;        ///< Of these.
    std::optional<duration> most_;    ///< More than half had brought all.
  };

  duration planned_;
  duration patience_;
  account parts_;
  account means_;
};

} // namespace potluck
