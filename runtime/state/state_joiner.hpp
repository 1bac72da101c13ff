/// A joiner's side: gets the training state, and the means of the steps that
/// pass meanwhile, from several donors at once.
///
/// The state is of one version, on which the donors agree; the means behind it
/// are collected from the first moment on, and applied on top in their order,
/// so that the joiner ends where the run is by then. Every piece is verified on
/// arrival, every state against what the majority says (vouchers.hpp). Pure:
/// facts and the time come in, actions go out. Its parts decide one thing each:
/// `version_choice` which version is fetched, `donor_swarm` who is asked for
/// what and who lied, `mean_course` what the trainer does next. README.md tells
/// the whole story.
#pragma once

#include <string>

#include "runtime/state/donor_swarm.hpp"
#include "runtime/state/fetch_account.hpp"
#include "runtime/state/mean_course.hpp"
#include "runtime/state/version_choice.hpp"

namespace potluck {

class state_joiner {
public:
  struct bounds {
    download_plan::bounds plan;
    std::size_t donors;
    std::uint64_t mean_bytes; ///< Kept until they can be applied.
    std::size_t means;
    /// Of the run: no version lies behind it.
    std::uint64_t last_step = max_step;
    safeguard_set guards = {};
  };

  /// @param self Decides the order in which donors are asked.
  state_joiner(const peer_id& self, bounds most)
      : version_(most.last_step),
        swarm_(self, {most.plan, most.donors, most.mean_bytes, most.means,
                      most.guards}) {
  }

  /// Starts; goes on with a version put aside when somebody still serves it.
  /// @param hub Keeps pieces of states, maybe, and is preferred to the donors;
  ///     empty: they have better lines.
  state_actions begin(fetch_goal goal, time_point now, const peer_id& hub = {});
  bool busy() const {
    return busy_;
  }
  /// Ends without an outcome; what is there is put aside.
  state_actions cancel(time_point now);

  /// A trainer that trains reports this state.
  state_actions heard(const peer_id& peer, std::uint64_t step,
                      const digest& state, time_point now);
  state_actions lost(const peer_id& peer, time_point now);
  state_actions read(const peer_id& from, const state_manifest& x,
                     time_point now);
  state_actions read(const peer_id& from, const state_piece& x,
                     const shared_bytes& body, time_point now);
  /// The trainer holds this now.
  state_actions applied(std::uint64_t step, const digest& state,
                        time_point now);
  /// The trainer refused the job.
  state_actions refused(const std::string& why, time_point now);
  /// Looks at deadlines.
  state_actions look(time_point now);

  /// Of the state's pieces, 0 to 1.
  double part() const;
  std::uint64_t version() const {
    return version_.step();
  }
  std::size_t means_held() const {
    return swarm_.download().means_held();
  }
  std::size_t donors() const {
    return swarm_.panel().size();
  }
  bool distrusts(const peer_id& peer) const {
    return swarm_.panel().distrusts(peer);
  }

private:
  bool fetches_goal() const;
  bool reports_goal(const peer_id& peer) const;
  void ask_everybody(time_point now);
  void hear_relay(const state_manifest& x, time_point now);
  void vote(const peer_id& from, const state_manifest& x, time_point now);
  void ban(const peer_id& peer, const std::string& what, time_point now) {
    note(swarm_.ban({peer}, what, now));
  }
  void decide(time_point now);
  void finish_state(time_point now);
  void advance(time_point now);
  void fail(const std::string& reason, time_point now, bool keep = false);
  void end();
  void put_aside(time_point now);
  void forget_version() {
    swarm_.clear();
    version_.forget();
  }
  /// These are to be done too.
  void note(state_actions xs) {
    for (auto& x : xs)
      actions_.push_back(std::move(x));
  }
  state_actions done(time_point now);

  bool busy_ = false;
  fetch_goal goal_;
  version_choice version_;
  donor_swarm swarm_;
  mean_course course_;
  fetch_account account_;
  state_actions actions_;
};

} // namespace potluck
