/// The other peers as a step counts on them: who is there, whom to believe, and
/// whether they are through.
///
/// Pure. Joins what is known of them with the doubts about them, and says what
/// people should hear of it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "runtime/progress/acquaintances.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/doubts.hpp"
#include "runtime/step/facts.hpp"
#include "runtime/step/finishing.hpp"
#include "runtime/step/gradient_lines.hpp"
#include "runtime/step/solitude.hpp"
#include "runtime/step/trials.hpp"

namespace potluck {

class company {
public:
  using actions = std::vector<step_action>;

  company(const peer_id& self, const run_settings& run, bool trains,
          bool counts_unconnected);

  const acquaintances& known() const {
    return known_;
  }
  progress_tracker& tracker() {
    return known_.tracker();
  }
  const doubts& doubted() const {
    return doubts_;
  }
  /// What trainers that average say while groups form without them. Valid until
  /// the next report.
  std::vector<const progress_report*> doubted_trainers(time_point now) const;
  finishing& end() {
    return end_;
  }
  /// Whether a peer that has made the last step is over now, which is said
  /// once: nobody here needs it any more. @param own Its report.
  /// @param counts Whether a connected peer is worth waiting for.
  bool lets_go(const progress_report& own,
               const std::function<bool(const progress_report&)>& counts,
               time_point now);

  /// @param step Held.
  actions joined(const peer_joined& x, std::uint64_t step, time_point now);
  /// @param own This peer's report.
  actions left(const peer_left& x, const progress_report& own, time_point now);
  /// This peer contributed, and has no sponsor any more.
  void lost_sponsor(time_point now) {
    known_.lost_company(known_.self(), now);
  }
  enum class worth {
    nothing,  ///< Not this run's, only hearsay, or not believed.
    believed, ///< Counts.
    forgiven, ///< The same, and its peer was set aside until now.
  };
  worth heard(const progress_report& x, const progress_report& own,
              time_point now);
  /// This peer is in a group with these members.
  void averages(const group_contract& x) {
    for (const auto& member : x.members)
      averages_with(member.who.id);
  }
  /// The run goes on from a state of earlier: nothing that was said of its
  /// steps counts.
  void begin_era();
  /// Its samples are counted in this peer's gradient.
  void gave(const peer_id& who) {
    known_.gave(who);
  }

  /// This peer has made a step with the gradients of these, in so long.
  void made(const std::set<peer_id>& makers, duration step, time_point now) {
    trials_.made(makers, step, now);
  }
  /// A step was taken. Says so when it was alone though others are known.
  actions stepped(time_point now);
  /// The others' history is held.
  actions caught_up();
  /// What is to be said of that at the end.
  actions last_word() const;
  std::string trouble() const {
    return solitude_.trouble().empty() ? lines_.trouble() : solitude_.trouble();
  }
  /// No trainer here can average for others.
  bool needs_auxiliary() const {
    return lines_.needs_auxiliary();
  }
  /// Says so when there is no line for a gradient. Call it now and then.
  actions look(time_point now);

  // These name the peers that groups form without from here on.
  /// @param held_up What the round took beyond its plan.
  actions silent(const round_over& x, duration held_up, time_point now);
  actions doubt(const members_doubted& x, time_point now);
  actions doubt(const donor_distrusted& x, time_point now);

private:
  void averages_with(const peer_id& who);
  void forget(const peer_id& who);
  void held_up(const std::set<peer_id>& who, duration how_long, time_point now);
  actions set_aside(const std::vector<doubts::verdict>& whom,
                    const std::string& why);

  bool trains_;
  acquaintances known_;
  doubts doubts_;
  trials trials_;
  std::set<peer_id> stepped_back_; ///< From the round that runs.
  solitude solitude_;
  gradient_lines lines_;
  finishing end_;
};

} // namespace potluck
