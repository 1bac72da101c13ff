/// Which auxiliaries of a round did not average what the plan gave them, or
/// came late with it: the next plans count on them less.
///
/// A trainer's view. Auxiliaries are held against the trainers that average,
/// for whoever lacks a part waits for it like all others. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/averaging/round/chunk_ledger.hpp"
#include "runtime/averaging/round/member_roll.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class helper_watch {
public:
  /// Means are late that come after so many times what was planned, and after
  /// so many times what the trainers took, and some slack.
  static constexpr double late = 2;
  static constexpr std::chrono::milliseconds slack{500};

  /// @param planned Seconds of the round.
  helper_watch(const chunk_map& map, double planned);

  /// A mean of the plan has come from this member, or was made here, so long
  /// after the round began.
  void mean_here(std::size_t member, duration since);

  /// @param committed How the round ended. @param waited For whom patience has
  ///     ended, or who was lost: for each member.
  std::vector<std::size_t> stalled(const member_roll& roll,
                                   const chunk_ledger& ledger, bool committed,
                                   const std::vector<bool>& waited) const;

private:
  struct work {
    std::uint32_t means = 0; ///< That are here.
    duration last{0};        ///< The last of them came.
  };

  bool complete(std::size_t member) const {
    return done_[member].means >= map_.chunks_of(member).count;
  }
  /// Averages, and is no auxiliary's.
  bool trains_and_averages(const member_roll& roll, std::size_t i) const {
    return roll[i].trains && map_.chunks_of(i).count != 0;
  }
  bool others_are_complete(const member_roll& roll) const;
  bool is_late(const member_roll& roll, std::size_t member) const;
  /// Somebody else averaged a chunk of its in the end.
  bool was_replaced(const chunk_ledger& ledger, std::size_t member) const;

  chunk_map map_;
  duration planned_;
  std::vector<work> done_;
};

} // namespace potluck
