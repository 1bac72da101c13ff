/// Which parts of a round have come, whose are still owed, and for how long
/// parts and means are news.
///
/// A member could bring one of them just before patience ends, again and again.
/// So bulk is no news any more once most others have brought their parts and
/// twice as much time has passed as that takes, or as the plan or the patience
/// says. Where most are slow it always is.
///
/// Pure: it is told the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/clock.hpp"
#include "runtime/direct_lines.hpp"

namespace potluck {

class bulk_watch {
public:
  /// @param planned What the round is to take, in seconds.
  bulk_watch(const group_contract& contract, const chunk_map& map,
             const direct_lines& lines, std::size_t self, double planned,
             time_point now);

  /// A part has come. @return Whether for the first time.
  bool part_came(std::size_t member, std::uint32_t chunk, time_point at);
  /// The parts of a chunk are lost, and come again.
  void forget(std::uint32_t chunk);
  /// A mean has come, or was made here.
  void mean_came(time_point at) {
    last_ = std::max(last_, at);
  }
  /// Much is sent anew, and has the usual time. Not for ever, as others can
  /// have this one heal.
  void begins_anew(time_point now);
  /// Those that still owe parts when these are no news any more are late.
  void look(time_point now);
  /// It has not sent what it says it has.
  void withholds(std::size_t member) {
    late_.insert(member);
  }

  bool has_come(std::size_t member, std::uint32_t chunk) const {
    return come_.count({member, chunk}) != 0;
  }
  /// This member averages something.
  bool averages() const {
    return own_.count != 0;
  }
  /// Whether the member owed this one parts by the plan,
  bool owed(std::size_t member) const {
    return averages() && owes_.at(member);
  }
  /// and none of them has come.
  bool brought_nothing(std::size_t member) const {
    return owed(member) && missing_.at(member) == own_.count;
  }
  /// It has held the round up.
  bool is_late(std::size_t member) const {
    return late_.count(member) != 0;
  }
  /// Somebody has.
  bool any_late() const {
    return !late_.empty();
  }
  /// Most others have brought all, and it has not.
  bool owes(std::size_t member) const {
    return most_ && missing_.at(member) != 0;
  }
  /// When a part or a mean came last that was news. @param taken When the
  /// intake took the last one.
  time_point last_news(time_point taken) const;

private:
  /// Until when bulk is news.
  std::optional<time_point> until() const;

  chunk_range own_;
  std::vector<bool> owes_;
  std::vector<std::uint32_t> missing_; ///< Parts, by member.
  std::size_t others_ = 0;             ///< That owe any.
  std::size_t complete_ = 0;           ///< Of these.
  double scale_ = 1; ///< All parts of a member to those for this one, in time.
  std::set<std::pair<std::size_t, std::uint32_t>> come_;
  std::set<std::size_t> late_;
  duration usual_; ///< What a round takes by its plan, or the patience.
  time_point began_;
  time_point last_{};               ///< Of what came.
  std::optional<duration> most_;    ///< Take so long to bring all.
  std::optional<time_point> again_; ///< Bulk was sent anew then, last.
  unsigned times_ = 0;
};

} // namespace potluck
