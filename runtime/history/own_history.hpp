/// The history of the state that this peer holds: what it went through, with
/// whom, and for which other one it is given up.
///
/// Pure: the time comes in. A peer that has made steps with others is
/// *bound*: only those can outvote it. One that has not, or whose others are
/// all gone for long, is *young*, and goes with most that are there. README.md
/// says what an attacker needs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/history/electorates.hpp"
#include "runtime/history/history_vote.hpp"
#include "runtime/history/kept_digests.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Who has made so many steps with others is bound to them,
constexpr unsigned binding_steps = 4;
/// and so long after the first of them: the parts of a trial that begins, or of
/// a run that begins anew from checkpoints, find together first.
constexpr auto settling = 15s;
/// Where somebody vouches for its peers: those that come so long after a peer's
/// first step with others find no run that begins.
constexpr auto beginning = 3s;
/// That were there before, as far as they are remembered.
constexpr std::size_t most_founders = 1024;
/// Nobody of those is heard of for so long: they are gone. So is one of them.
constexpr auto estrangement = 60s;
/// Most of those with whom the last step was made cannot be reached: so long no
/// step is made without them. A line that was cut for less makes no island.
constexpr auto parting_patience = 15s;
/// A peer that trains so many steps behind is not on its way here.
constexpr std::uint64_t most_behind = 1024;
/// A next step whose mean could not be had: others are made, and none is
/// fetched for so long.
constexpr auto next_step_pause = 60s;
/// Peers of a young one's choice, so that a checkpoint is overwritten by it and
/// a run ends with it.
constexpr std::size_t least_supporters = 2;

} // namespace potluck::limits

namespace potluck {

class own_history {
public:
  using reports = std::vector<const progress_report*>;

  /// @param one_history All make the same steps; else each step is made in a
  ///     group of its own (runtime/ways).
  /// @param settles Whether any parts of a run that begins are to find together
  ///     before this peer is bound; else those that were there when it made its
  ///     first step with others.
  own_history(const peer_id& self, bool one_history, bool settles = true)
      : self_(self), redrawn_(!one_history), settles_(settles || redrawn_) {
  }

  // ---- what happens to it -------------------------------------------------

  /// What it holds first it has from before, as others may have.
  void resumes() {
    settles_ = true;
  }
  /// This state is held, as it is reported.
  void holds(std::uint64_t step, const digest& state) {
    digests_.add(step, state);
  }
  /// Whether this is known to be a state that it went through.
  bool goes_through(std::uint64_t step, const digest& state) const {
    return digests_.goes_through(step, state);
  }
  /// It belongs to another history. @param vouched_for As its `choice` was.
  /// @param from Those that held it.
  void adopts(std::uint64_t step, const digest& state, bool vouched_for,
              std::vector<peer_id> from = {});
  /// Before this peer came, steps were made by these, as those show that it
  /// trusts: it goes by their weight as if it had made one with them.
  void learn(electorates::weights makers, time_point now);
  /// A step was made by this contract's group. @param left_out Members' indices
  ///     that are not behind it.
  void made(const group_contract& x, const std::vector<std::uint8_t>& left_out,
            time_point now);
  /// It said goodbye: nobody waits for it.
  void parted(const peer_id& who) {
    if (electors_.has(who))
      parted_.insert(who);
    seen_.erase(who);
  }

  /// It reports, so it is not gone.
  void heard(const peer_id& who, time_point now) {
    if (electors_.has(who))
      heard_ = seen_[who] = now;
  }

  // ---- which counts -------------------------------------------------------

  struct choice {
    /// That hold the state to take over; none: what is held counts.
    std::vector<progress_report> donors;
    /// A run may end with it, and a checkpoint be overwritten.
    bool vouched_for = false;
    /// It is one step of the history that is held: nothing but its mean is to
    /// be taken from them.
    bool is_next_step = false;
  };
  /// Whether another history counts more than what `own` holds.
  /// @param others Fresh reports of trainers that average.
  /// @param doubted Likewise, of those from which nothing is to be fetched for
  ///     now. They have their say where this peer is bound.
  choice better(const progress_report& own, const reports& others,
                const reports& doubted, time_point now);
  /// The mean of the next step could not be had.
  void next_step_failed(time_point now) {
    next_step_after_ = now + limits::next_step_pause;
  }
  /// Whether what it announces can matter here.
  bool has_a_say(const progress_report& own, const peer_id& who,
                 time_point now) const {
    return bound(own, now) ? electors_.has(who) : counts(who, now);
  }
  /// Whether its report says that it is in another history, and none that this
  /// peer could ever follow: it need not be waited for.
  bool is_foreign(const progress_report& own, const progress_report& x,
                  time_point now) const;
  /// A checkpoint may be overwritten by what is held.
  bool vouched_for() const {
    return vouched_for_;
  }
  /// Whether so many hold what `own` does that a run may end with it.
  bool is_held_by_most(const progress_report& own, const reports& others) const;
  /// It goes by those that it has learnt of, who are not gone.
  bool goes_by_learnt(time_point now) const {
    return learnt_at_ && now - *learnt_at_ < limits::estrangement;
  }
  /// Whether no step is to be made now, since most of the others may be back.
  bool waits(const electorates::condition& is_here, time_point now);

private:
  /// A contributor is not, since no contract names it, but by what it has
  /// learnt when it comes.
  bool bound(const progress_report& own, time_point now) const {
    const auto met = has_company() && now - first_ >= limits::settling
                     && now - heard_ < limits::estrangement;
    return own.contributes ? own.history_samples == 0 && goes_by_learnt(now)
                           : met || goes_by_learnt(now);
  }
  /// Whether the head of this one is counted, while this peer is young.
  bool counts(const peer_id& who, time_point now) const {
    return settles_ || steps_ == 0 || now - first_ >= limits::settling
           || electors_.has(who) || founders_.count(who) != 0;
  }
  /// Steps enough were made with others.
  bool has_company() const {
    return steps_ >= (settles_ ? limits::binding_steps : 1);
  }
  stance of(const progress_report& x, const progress_report& own) const;
  /// As a bound peer has it.
  choice outvoted_by(std::vector<ballot> all, const progress_report& own,
                     const reports& doubted, time_point now) const;
  /// As a young peer has it.
  choice most_of(const std::vector<ballot>& all, const progress_report& own,
                 const reports& others) const;

  peer_id self_;
  bool redrawn_;
  bool settles_;
  std::set<peer_id> founders_; ///< Were there when the run began for this peer.
  kept_digests digests_;
  electorates electors_;
  /// With whom others made one; or one of those was heard of that has a
  /// history. None: nothing was learnt.
  std::optional<time_point> learnt_at_;
  unsigned steps_ = 0;                 ///< With others.
  time_point first_{};                 ///< Of them.
  time_point heard_{};                 ///< Of one of the others, last.
  std::map<peer_id, time_point> seen_; ///< Each of them, last.
  unsigned on_this_ = 0; ///< Steps with others since another one was adopted.
  bool vouched_for_ = true;
  bool has_adopted_ = false;
  std::vector<peer_id> from_; ///< Had what was adopted.
  std::set<peer_id> parted_;  ///< Since the last step.
  std::optional<time_point> most_missing_since_;
  time_point next_step_after_ = time_point::min();
};

} // namespace potluck
