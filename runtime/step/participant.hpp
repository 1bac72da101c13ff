/// This peer as one of the run's: the stage it is in, the state it holds, what
/// it has computed, whom it knows, and what it tells them of that.
///
/// Hears the facts that change no stage; `step_machine` hears the others.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/planning/resting.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/company.hpp"
#include "runtime/step/computing.hpp"
#include "runtime/step/facts.hpp"
#include "runtime/step/helpers.hpp"
#include "runtime/step/leading.hpp"
#include "runtime/step/round_watch.hpp"
#include "runtime/step/self_report.hpp"
#include "runtime/step/stages.hpp"
#include "runtime/step/step_settings.hpp"

namespace potluck {

class participant {
public:
  using actions = std::vector<step_action>;

  participant(step_settings how, time_point now);

  /// The time of the facts that are heard from here on.
  void set_time(time_point now) {
    now_ = now;
  }
  /// What to do, in this order, since it was asked last.
  actions take() {
    return std::exchange(out_, {});
  }
  stage in() const {
    return stage_;
  }

  void on(const surroundings& x);
  void on(const peer_joined& x);
  void on(const line_measured& x);
  void on(const members_doubted& x);
  void on(const donor_distrusted& x);
  void on(const cell_standing& x);
  void on(const contribution_wanted& x);

protected:
  /// Follows the table. False: `why` leads nowhere from here.
  bool go(cause why);

  const step_settings& how() const {
    return how_;
  }
  /// As amended for the step that comes next.
  const run_settings& run() const {
    return run_;
  }
  bool trains() const {
    return how_.role == role::trainer;
  }
  time_point now() const {
    return now_;
  }
  /// This peer's report, with what is counted by now.
  const progress_report& own();
  self_report& me() {
    return me_;
  }
  outlook at();
  /// The way of averaging.
  way& averaging() {
    return *way_;
  }
  company& others() {
    return company_;
  }
  helpers& auxiliaries() {
    return helpers_;
  }
  leading& turn() {
    return leading_;
  }
  computing& work() {
    return computing_;
  }
  const sample_account::count& counted() const {
    return computing_.account().counted();
  }
  std::uint64_t parameters() const {
    return parameters_;
  }

  template <class T>
  void out(T&& x) {
    out_.emplace_back(std::forward<T>(x));
  }
  void add(actions more);
  /// Asks one of the functions of `computing` what follows.
  template <class F>
  void compute(F ask) {
    const auto here = at();
    add(ask(computing::standing{
        stage_, here, *way_, me_.averages(), leading_.in_vain(),
        leading_.overdue(now_, computing_.pace().since(now_)), rests()}));
  }
  /// Who computes the next step's gradients, in a run with one history.
  resting& who_rests() {
    return resting_;
  }
  /// The group stands: says what its plan is, and thinks of who is to rest.
  /// @param why It is another plan than the one before.
  void plan_for(const group_formed& x, const std::string& why);
  /// What the organiser has said since counts from here on: no group has been
  /// told of the step that comes next.
  void take_terms();
  /// Said, and not taken yet.
  void keep_terms(shared_terms x) {
    next_terms_ = std::move(x);
  }
  /// The run has been rolled back, and what is held lies before that.
  bool must_go_back() const;
  /// The state of that step, and not the one that is meant.
  bool holds_another(const roll_back& x) const;
  /// The step of the state to which the run was rolled back, behind which this
  /// peer is; 0: it was not.
  std::uint64_t era_begins() const;
  /// From here on nothing counts of what others report from before.
  /// @return What is to be held again; nothing if all that is held is older.
  std::optional<roll_back> begin_era();
  /// It is held.
  void hold_era() {
    *how_.era = era_;
    look_at_terms();
  }
  /// A newcomer that is not to begin a history of its own: it takes part in no
  /// group before it holds somebody's.
  void hold_off(bool yes) {
    if (std::exchange(holds_off_, yes) != yes)
      tell_facts();
  }
  bool holds_off() const {
    return holds_off_;
  }
  /// No step is to be made for now.
  bool stands_still() const {
    return !standstill_.empty();
  }
  /// Computes the next batch if this is the time for it.
  void pump();
  /// Compute holds another state than this peer reported.
  void hold(const state_changed& x);
  void announce(bool urgent);
  void tell_facts();
  run_status status(const round_watch::result& last);

private:
  void look_at_terms();
  bool rests();
  /// Says so when that changes.
  void tell_rest();

  step_settings how_;
  run_settings run_;
  shared_terms next_terms_;
  std::uint64_t era_;      ///< The last roll-back's number; 0: there was none.
  std::string standstill_; ///< Why no step is made; empty: one may be.
  std::unique_ptr<way> way_;
  stage stage_;
  time_point now_;
  actions out_;
  self_report me_;
  std::uint64_t parameters_ = 0; ///< Of the model.
  computing computing_;
  company company_;
  helpers helpers_;
  leading leading_;
  resting resting_;
  bool told_rest_ = false;
  bool holds_off_ = false;
};

} // namespace potluck
