/// When a peer is through: its last step is applied, its last checkpoint is
/// written, and nobody needs it any more; or the others have finished without
/// it.
///
/// A peer that was cut off while the others finished and left finds nobody to
/// get their last state from. Made alone, the step would be a second end of the
/// run: of two, the one that more hold counts. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// After the last step: wait so long for lost trainers to come back, who may
/// have another history...
constexpr auto finish_linger = 10s;
/// ...and so long for connected ones to get a step further, serving them: on a
/// slow line whoever missed the last verdict needs its patience and a download.
constexpr auto laggard_linger = 2min;
/// One peer alone gave the run's last state: so long others may vouch for it.
constexpr auto end_patience = 15s;
/// Nobody is waited for longer than this after the last step.
constexpr auto laggard_patience = 15min;

} // namespace potluck::limits

namespace potluck {

class finishing {
public:
  /// Finished peers remembered: more than any group, so a peer that is
  /// outnumbered by so many need not count.
  static constexpr std::size_t most_known = 4096;

  /// @param steps Of the run.
  explicit finishing(std::uint64_t steps) : steps_(steps) {
  }

  /// The run ends after another step than was said before.
  void ends_after(std::uint64_t steps) {
    steps_ = steps;
  }

  // ---- this peer's own end ------------------------------------------------

  /// The last step is applied. @param writes A checkpoint is to be written
  /// before this peer goes.
  void made_last_step(bool writes, time_point now);
  /// This peer holds the run's last state, though it may fetch another.
  bool made() const {
    return made_at_.has_value();
  }
  /// @param problem Why it is not where it should be; empty if it is.
  void checkpoint_saved(std::uint64_t step, const std::string& problem);
  /// What the user of a peer that is through is told of its last checkpoint;
  /// empty when that is well.
  const std::string& unsaved() const {
    return unsaved_;
  }
  bool checkpoint_pending() const {
    return pending_;
  }
  /// A trainer was lost without a goodbye: it may come back with another
  /// history.
  void lost_trainer(time_point now) {
    lost_at_ = now;
  }

  /// Whether a trainer that has made the last step is over now, which is said
  /// once. Connected trainers that miss the step get its state from this peer,
  /// as long as they get further.
  /// @param reports Of connected peers. @param state Held, as reported.
  bool may_go(const std::map<peer_id, progress_report>& reports,
              const digest& state, time_point now);
  /// The same for a peer that holds no model: it waits for nobody.
  bool all_done(const std::map<peer_id, progress_report>& reports,
                const digest& state);
  bool over() const {
    return over_;
  }

  // ---- the others' end ----------------------------------------------------

  /// What a peer reports, connected or in a record: its newest counts. Those
  /// that nothing is known of but their own word are left out before
  /// (`acquaintances::is_believed`).
  void heard(const progress_report& x);
  /// Those that have said so until now were strangers.
  void forget_strangers() {
    finished_.clear();
  }
  /// The run's last step has been made by as many as are left here.
  /// @param left Trainers here that have not made it; above zero.
  bool outnumbers(std::size_t left) const {
    return finished_.size() >= left;
  }
  /// Whether this peer is over now, since it has been outnumbered for long;
  /// said once. @param outnumbered Now.
  bool too_late(bool outnumbered, time_point now);
  /// What its user is told then.
  static std::string cut_off(std::uint64_t step, std::uint64_t steps);
  /// And when nobody else vouches for the last state that was fetched.
  static std::string unproven(std::uint64_t step);

private:
  /// Connected trainers that have not finished.
  struct backlog {
    std::size_t trainers = 0;
    std::uint64_t steps = 0; ///< The sum of those that they are at.

    friend bool operator==(const backlog& a, const backlog& b) {
      return a.trainers == b.trainers && a.steps == b.steps;
    }
  };
  static backlog left_behind(const std::map<peer_id, progress_report>& reports,
                             const digest& state);

  std::uint64_t steps_;
  std::optional<time_point> made_at_;
  bool pending_ = false; ///< A checkpoint is being written.
  std::string unsaved_;
  backlog laggards_;
  time_point laggards_moved_; ///< When `laggards_` became what it is.
  std::optional<time_point> lost_at_;
  bool over_ = false;
  std::set<peer_id> finished_;
  std::optional<time_point> too_late_since_;
};

} // namespace potluck
