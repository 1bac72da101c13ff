/// Rare paths, taken on purpose: places in the code at which something may go
/// wrong at any time, and hardly ever does (FoundationDB's BUGGIFY).
///
/// Nothing strikes unless somebody has switched points on for the thread, which
/// only a simulation does: it gives each machine points of its own, by its
/// seed, for its turns. Some points are on in a run, others are not, so that
/// seeds try combinations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/random.hpp"

namespace potluck {

enum class fault_point : std::size_t {
  line_ends,           ///< A session's line breaks.
  heartbeat_early,     ///< A sign of life is asked for that nobody needs.
  dial_fails,          ///< A dial fails at once.
  roster_late,         ///< The roster looks around a second late.
  news_late,           ///< A report is not told in its round.
  lookup_unanswered,   ///< A node of the DHT does not answer a look-up.
  record_refused,      ///< It has no room for a record.
  charter_not_yet,     ///< Whoever is asked for the charter says it has none.
  donor_busy,          ///< A donor has no place for a joiner.
  piece_gone,          ///< A piece that was offered is not there any more.
  invitation_declined, ///< A follower steps back when its group starts.
  round_abandoned,     ///< A member gives a round up as it begins.
  count,               ///< How many there are.
};

/// "line_ends".
const std::string& name_of(fault_point x);

class fault_points {
public:
  using counts
      = std::array<std::uint64_t, static_cast<std::size_t>(fault_point::count)>;

  /// @param run Decides which points are on; equal for all machines of a run.
  /// @param own Decides when they strike here.
  fault_points(std::uint64_t run, std::uint64_t own);

  /// How often each has struck.
  const counts& struck() const {
    return struck_;
  }

  /// Switches points on for this thread as long as it lives; null: none.
  class turn {
  public:
    explicit turn(fault_points* x);
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

  private:
    fault_points* before_;
  };

private:
  friend bool strikes(fault_point x);
  bool decide(fault_point x);

  std::array<bool, static_cast<std::size_t>(fault_point::count)> on_{};
  random_stream chance_;
  counts struck_{};
};

/// Whether the rare thing is to happen here and now.
bool strikes(fault_point x);

} // namespace potluck
