/// What compute is asked for: batches, setting the gradient aside and taking it
/// back, lending it, adding others' gradients to it.
///
/// Owns the account of what lies in the gradient. Pure; it does not know groups
/// or rounds, only in which stage it is asked.
#pragma once

#include <vector>

#include "runtime/safeguards.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/facts.hpp"
#include "runtime/step/sample_account.hpp"
#include "runtime/step/stages.hpp"
#include "runtime/step/step_pace.hpp"
#include "runtime/ways/way.hpp"

namespace potluck {

class computing {
public:
  using actions = std::vector<step_action>;

  /// Where the peer stands when it asks.
  struct standing {
    stage in;
    const outlook& at;
    way& how;
    bool averages; ///< In groups itself.
    bool in_vain;  ///< Groups of this step have come to nothing.
    bool overdue;  ///< None forms, though all samples seem to be there.
    bool rests;    ///< The run is faster without its gradients.
  };

  /// @param trains Has a model. @param delayed Batches go on beside a round
  ///     (actors/README.md, "Delayed updates").
  computing(sample_account::settings how, bool trains, bool delayed,
            time_point now, safeguard_set guards = {});

  const sample_account& account() const {
    return account_;
  }
  /// The run ends after another step than was said before.
  void ends_after(std::uint64_t steps) {
    account_.ends_after(steps);
  }
  const step_pace& pace() const {
    return pace_;
  }
  step_pace& pace() {
    return pace_;
  }
  bool delayed() const {
    return delayed_;
  }
  /// Batches are computed beside the group or round that is under way.
  bool goes_ahead(stage in) const;
  /// No batch is under way that belongs to what a group is to be told.
  bool at_rest() const {
    return !account_.running() || account_.aside();
  }

  /// Asks for the next batch, if this is the time for it.
  actions pump(const standing& s);
  /// The batch that was asked for has ended.
  actions ended(const batch_done& x, const standing& s);
  /// What is counted is complete, if it is.
  actions close_if_complete(const standing& s);
  actions close(const standing& s);
  /// It is not complete after all.
  actions reopen();

  /// Compute holds another state. @param in The stage until now.
  actions changed(const state_changed& x, stage in);
  /// Nothing that was counted still counts.
  actions drop();

  // ---- contributions ------------------------------------------------------

  /// @param told What is counted has been told to a group.
  actions add(const contribution_ready& x, const standing& s, bool told);
  /// A sponsor asks for what is counted.
  actions asked(const contribution_wanted& x, const standing& s);
  /// Answers the sponsor's question, if there is one and no batch runs.
  actions answer(const standing& s);
  /// Compute has lent the gradient for that answer.
  actions give(const gradient_lent& x, const standing& s);

private:
  duration longest_batch(const standing& s) const {
    return pace_.longest_batch(s.at.own.contributes, s.at.now);
  }

  bool trains_;
  bool delayed_;
  safeguard_set guards_;
  sample_account account_;
  step_pace pace_;
};

} // namespace potluck
