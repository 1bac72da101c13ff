/// A way of averaging: with whom a peer averages a step, when that is due, what
/// it reports, and what it lends and takes for it.
///
/// `runtime/step` asks these questions and never which way it is. Another way
/// is one more folder with one more class, and a line in `make_way`; README.md
/// has the newcomer's exercise. Pure: the time comes in with every question.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/matchmaking.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/matchmaking/matchmaking_facts.hpp"
#include "runtime/progress/acquaintances.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/ways/contributions.hpp"

namespace potluck {

/// What a question to a way is about.
struct outlook {
  const progress_report& own; ///< Of this peer, without its contributors.
  const acquaintances& others;
  time_point now;
  duration report_pause; ///< Between two reports of a contributor.
};

class way {
public:
  using reports = std::vector<progress_report>;

  virtual ~way() = default;

  // ---- with whom ----------------------------------------------------------

  /// All hold the same state after each step, and a step that one has completed
  /// is every peer's. Else each group makes its steps apart from the others,
  /// and trainers that are only heard of count as well.
  virtual bool one_history() const = 0;
  /// Trainers that a group for the next step is made of, this one not included.
  virtual reports partners(const outlook& at) = 0;
  /// Whether a group should wait for this peer, which is only heard of.
  virtual bool awaits(const outlook& at, const peer_id& who) = 0;
  /// Some of these can follow now, or this peer makes the step alone.
  virtual bool can_lead(const outlook& at, const reports& partners) = 0;
  /// Whether another is to lead the group of these.
  /// @param passed_over How many before it may have missed their turn.
  /// @param due For how long the group has been due.
  virtual bool others_lead(const outlook& at, const reports& partners,
                           const leader_order& order, std::size_t passed_over,
                           duration due)
      = 0;
  /// Whom to fetch a longer history from; none: this peer is not behind, or not
  /// yet.
  /// @param ahead Trainers with a better history, at least one.
  /// @param patience That a round is given.
  virtual reports donors(const outlook& at, reports ahead, duration patience)
      = 0;

  // ---- due or not ---------------------------------------------------------

  /// The target batch is there, or was.
  virtual bool due(const outlook& at) const = 0;
  /// Samples that a group of these begins with at least; 0: the target batch.
  virtual std::uint64_t least_samples(const outlook& at,
                                      const reports& partners) const = 0;

  // ---- what is reported ---------------------------------------------------

  /// What to say of this peer and of those whose gradients it gathers.
  virtual progress_report reported(const outlook& at) const = 0;
  /// What to report as the state after `step`, where `held` is.
  virtual digest reported_state(std::uint64_t step,
                                const digest& held) const = 0;
  /// What matchmaking is to know besides what every way tells.
  virtual void tell(const outlook& at, matchmaking_facts& facts) = 0;
  /// The name of this way in a round of this contract, and why it is the one:
  /// for people.
  virtual std::pair<std::string, std::string>
  explain(const outlook& at, const group_contract& contract) = 0;

  // ---- what is lent and taken ---------------------------------------------

  /// Values that a round averages, of a model of so many.
  virtual std::uint64_t round_values(std::uint64_t parameters) const = 0;
  /// A round averages the parameters behind the gradient.
  virtual bool lends_parameters() const = 0;
  /// A group with this contract is about to average.
  virtual void formed(const group_contract&) {
  }
  /// The gradient is frozen: what to ask others for before it is told, once
  /// each time.
  /// @param parameters Of the model. @param computing A step, in seconds; 0:
  ///     unknown.
  virtual std::optional<gather_contributions>
  gather(const outlook& at, std::uint64_t parameters, double computing) {
    (void)at, (void)parameters, (void)computing;
    return std::nullopt;
  }
  /// What was asked for is on its way.
  virtual bool gathering() const {
    return false;
  }
  /// All of it is in, or was waited for. @return Whether it was awaited.
  virtual bool gathered() {
    return false;
  }
  /// Another peer asks for what this one has accumulated.
  /// @param something Samples are counted, or a batch is under way.
  /// @return Why it gets nothing, a sentence's part; empty: it gets it when the
  ///     batch has ended.
  virtual std::string asked(const outlook& at, const contribution_wanted& x,
                            bool something) {
    (void)at, (void)x, (void)something;
    return "averaging itself";
  }
  /// The question that is still to be answered; null: there is none.
  virtual const contribution_wanted* question() const {
    return nullptr;
  }
  /// It is answered. @param gave With samples, so this peer rests.
  virtual void answered(const outlook& at, bool gave) {
    (void)at, (void)gave;
  }
  /// Has given its gradient away, and expects the step to be done soon.
  virtual bool rests(const outlook&) const {
    return false;
  }

  // ---- the course of things -----------------------------------------------

  /// A connected peer reports.
  virtual void heard(const outlook&, const progress_report&) {
  }
  /// A peer is gone, or not believed any more.
  virtual void lost(const peer_id&) {
  }
  /// A peer's samples are in this peer's gradient now.
  virtual void took(const peer_id&) {
  }
  /// The gradient is not frozen any more.
  virtual void thawed() {
  }
  /// Another state is held: gatherings for the one before are off.
  virtual void state_changed() {
  }
  /// A step begins, whatever came before it.
  virtual void begin_step() {
  }
};

/// The way of a peer in a run with these settings.
/// @param contributes Whether it may average for others, or others for it: a
///     trainer may, a peer without a model never does.
/// @param charter Digest of the run's.
std::unique_ptr<way> make_way(const run_settings& settings, bool contributes,
                              const digest& charter);

} // namespace potluck
